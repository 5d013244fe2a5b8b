import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { hold, systemOf } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const integrator = await receiver()
const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([openAi.close(), integrator.close()]))

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql } = w
/** The bodies of the requests on a path of the integrator. */
const sentTo = (path: string) =>
  integrator.requests.filter(({ url }) => url.startsWith(path)).map(({ body }) => JSON.parse(body.toString()))
const entriesOf = async (toolId: string) => (await rest.as(acme.token).get(`/api/assistant-tools-new/${toolId}/logs`).expect(200)).body.data
const originate = async (assistantId: string, fields: object = {}): Promise<string> =>
  (
    await rest
      .as(acme.token)
      .post(`/api/assistants/${assistantId}/originate`, { phoneNumber: "+380441234567", ...fields })
      .expect(200)
  ).body.workflowId
const look = async (id: string) => (await rest.as(acme.token).get(`/api/calls-history/${id}`).expect(200)).body
const reported = (id: string) =>
  until(
    "the call is reported",
    async () => (await sql("select reported_at from call where id = $1 and reported_at is not null", [id])).length > 0,
  )

beforeAll(async () => {
  await acme.subscription("active")
  await acme.voice({ balance: 10, lines: 5 })
})
beforeEach(() => {
  integrator.requests.length = 0
  openAi.reply = async () => ({ text: "Goodbye." })
})

it("a call greets by name, answers with a tool, reports its result, and tells it to an endpoint", async () => {
  integrator.answer(({ url }) => {
    if (url.startsWith("/init")) return { json: { customer: "Ann", tier: "gold", phone_number: "forged", nested: {} } }
    return url.startsWith("/order") ? { json: { status: "shipped" } } : 200
  })
  openAi.reply = async ({ body }) => {
    const last = body.messages.at(-1)
    if (last.role === "tool") return { text: `It is ${/shipped/.exec(last.content)?.[0]}.` }
    if (/order/.test(last.content)) return { toolCalls: [{ name: "getOrder", arguments: { orderId: 77 } }] }
    return { text: "You are welcome." }
  }
  const ada = await acme.makeAssistant({
    name: "Ada",
    greeting: "Hello {{ customer }}!",
    prompt: "You call {{customer}} ({{tier}}), {{missing}}.",
  })
  const tool = (name: string, fields: object) => acme.tool({ assistantId: ada.id, name, ...fields })
  const init = await tool("whoIsIt", { type: "webhook_init", apiCallUrl: `${integrator.url}/init` })
  const order = await tool("getOrder", {
    apiCallUrl: `${integrator.url}/order`,
    params: { type: "object", properties: { orderId: { type: "integer" } }, required: ["orderId"] },
  })
  const postcall = await tool("result", { type: "webhook_postcall", apiCallUrl: `${integrator.url}/result`, webhookSecret: "word" })
  const endpoint = await acme.eventWebhook({ url: `${integrator.url}/events`, types: ["CALL_STARTED", "CALL_ENDED", "CALL_TRANSCRIBED"] })

  const id = await originate(ada.id, { dynamicVariables: { customer: "nobody", simulate_says: "Where is my order 77?|Thanks, bye." } })
  await reported(id)
  const call = await look(id)

  expect(sentTo("/init")).toEqual([
    {
      callId: id,
      assistantId: ada.id,
      phoneNumber: "+380441234567",
      dynamicVariables: expect.objectContaining({ customer: "nobody", assistant_name: "Ada" }),
    },
  ])
  expect(call).toMatchObject({
    status: "transcribed",
    endedReason: "customer_hung_up",
    dynamicVariables: { customer: "Ann", tier: "gold", phone_number: "+380441234567", assistant_name: "Ada", call_id: id },
  })
  expect(call.replies.map(({ role, text }: Record<string, string>) => `${role}: ${text}`)).toEqual([
    "agent: Hello Ann!",
    "customer: Where is my order 77?",
    "agent: It is shipped.",
    "customer: Thanks, bye.",
    "agent: You are welcome.",
  ])
  expect(systemOf(openAi.requests[0]!)).toContain("You call Ann (gold), {{missing}}.")
  const { data } = await w.gql(acme.token, "query ($id: UUID!) { call(id: $id) { unresolvedVariables } }", { id })
  expect(data.call.unresolvedVariables).toEqual(["missing"])
  expect(sentTo("/order")).toEqual([{ orderId: 77 }])
  expect(await entriesOf(order.id)).toMatchObject([{ callId: id, chatId: null, status: "success", response: { status: "shipped" } }])
  expect(await entriesOf(init.id)).toMatchObject([{ callId: id, status: "success" }])
  expect(await entriesOf(postcall.id)).toMatchObject([{ callId: id, status: "success" }])
  const [result] = sentTo("/result")
  expect(result).toMatchObject({ id, status: "transcribed", transcript: call.transcript, replies: call.replies })
  expect(result.recordingUrl).toContain("/media/")
  const platform = await sql(
    "select t.status from tool_call t join assistant_tool a on a.id = t.tool_id where a.name = 'platformPostCall' and t.call_id = $1",
    [id],
  )
  expect(platform).toEqual([{ status: "success" }])
  await until("three events are sent", () => sentTo("/events").length === 3)
  const events = sentTo("/events").filter(({ payload }) => payload.id === id)
  expect(events.map(({ type }) => type).sort()).toEqual(["CALL_ENDED", "CALL_STARTED", "CALL_TRANSCRIBED"])
  expect(events.find(({ type }) => type === "CALL_TRANSCRIBED").payload.replies).toEqual(call.replies)
  await rest.as(acme.token).delete(`/api/event-webhooks/${endpoint.id}`).expect(200)
})

it("a webhook_init that fails is logged, and the call goes on; one that is switched off is not called", async () => {
  const ada = await acme.makeAssistant({ name: "Ada", greeting: "Hello {{customer}}!" })
  integrator.answer(({ url }) => (url.startsWith("/list") ? { json: ["no object"] } : 500))
  const fails = await acme.tool({ assistantId: ada.id, type: "webhook_init", apiCallUrl: `${integrator.url}/fails` })
  await acme.tool({ assistantId: ada.id, type: "webhook_init", apiCallUrl: `${integrator.url}/list` })
  await acme.tool({ assistantId: ada.id, type: "webhook_init", apiCallUrl: `${integrator.url}/off`, disabled: true })
  const id = await originate(ada.id, { dynamicVariables: { simulate: "hang_up" } })
  await reported(id)
  expect((await look(id)).replies.map(({ text }: { text: string }) => text)).toEqual(["Hello {{customer}}!"])
  expect(await entriesOf(fails.id)).toMatchObject([{ callId: id, status: "error", responseStatus: 500 }])
  expect(integrator.requests.map(({ url }) => url).sort()).toEqual(["/fails", "/list"])
})

it("webhook_postcall is called after a call that was never connected, with empty replies", async () => {
  const ada = await acme.makeAssistant({ name: "Ada" })
  integrator.answer(200)
  await acme.tool({ assistantId: ada.id, type: "webhook_postcall", apiCallUrl: `${integrator.url}/result` })
  const id = await originate(ada.id, { phoneNumber: "+15550099402" })
  await reported(id)
  expect(sentTo("/result")).toMatchObject([{ id, status: "busy", endedReason: "busy", replies: [], transcript: null, duration: null }])
})

it("a model that fails ends the call as an error of the provider", async () => {
  const ada = await acme.makeAssistant({ name: "Ada", greeting: "Hello!" })
  openAi.reply = async () => ({ status: 500 })
  const id = await originate(ada.id)
  await reported(id)
  expect(await look(id)).toMatchObject({ status: "failed", endedReason: "provider_error", duration: null, recordingUrl: null })
})

it("a client runs its tool during a call", async () => {
  const ada = await acme.makeAssistant({ name: "Ada" })
  await acme.tool({ assistantId: ada.id, name: "startPump", type: "webhook_client", apiCallUrl: null })
  openAi.reply = async ({ body }) =>
    body.messages.at(-1).role === "tool" ? { text: "The pump is running." } : { toolCalls: [{ name: "startPump", arguments: {} }] }
  const id = await originate(ada.id, { dynamicVariables: { simulate_says: "Start the pump, please." } })
  const asked = await until("the call's tool is requested", async () => {
    const rows = await sql(
      "select payload -> 'value' as value from event where type = 'TOOL_CALL_REQUESTED' and payload #>> '{value,callId}' = $1",
      [id],
    )
    return rows[0]
  })
  expect(asked.value).toMatchObject({ chatId: null, callId: id, name: "startPump" })
  const mutation = "mutation ($id: UUID!) { answerToolCall(toolCallId: $id, output: { done: true }) { status callId } }"
  const { data } = await w.gql(acme.token, mutation, { id: asked.value.toolCallId })
  expect(data.answerToolCall).toEqual({ status: "SUCCESS", callId: id })
  await reported(id)
  expect((await look(id)).replies.at(-1)).toMatchObject({ role: "agent", text: "The pump is running." })
})

it("a client that answers its tool too late on a call is refused, and the call goes on without it", async () => {
  const ada = await acme.makeAssistant({ name: "Ada" })
  await acme.tool({ assistantId: ada.id, name: "startPump", type: "webhook_client", apiCallUrl: null, timeoutSeconds: 1 })
  openAi.reply = async ({ body }) =>
    body.messages.at(-1).role === "tool" ? { text: "I could not start it." } : { toolCalls: [{ name: "startPump", arguments: {} }] }
  const id = await originate(ada.id, { dynamicVariables: { simulate_says: "Start the pump, please." } })
  await reported(id)
  const [asked] = await sql(
    "select payload #>> '{value,toolCallId}' as id from event where type = 'TOOL_CALL_REQUESTED' and payload #>> '{value,callId}' = $1",
    [id],
  )
  const mutation = "mutation ($id: UUID!) { answerToolCall(toolCallId: $id, output: { done: true }) { status } }"
  const { errors } = await w.gql(acme.token, mutation, { id: asked.id })
  expect(errors?.[0]).toMatchObject({ message: expect.stringContaining("too late"), extensions: { code: "BAD_USER_INPUT" } })
  const [entry] = await sql("select status, error, response from tool_call where id = $1", [asked.id])
  expect(entry).toEqual({ status: "error", error: "The client did not answer within 1 s", response: null })
  const { status, replies } = await look(id)
  expect(status).toBe("transcribed")
  expect(replies.at(-1)).toMatchObject({ role: "agent", text: "I could not start it." })
})

promised("a call whose worker was lost goes on where it was: nothing is said twice, and no tool is called twice", async () => {
  integrator.answer({ json: { status: "shipped" } })
  const ada = await acme.makeAssistant({ name: "Ada", greeting: "Hello!" })
  await acme.tool({ assistantId: ada.id, name: "getOrder", apiCallUrl: `${integrator.url}/order` })
  const held = hold(openAi)
  const id = await originate(ada.id, { dynamicVariables: { simulate_says: "Where is my order?" } })
  const asked = await held.next()
  asked.answer({ toolCalls: [{ name: "getOrder", arguments: {} }] })
  const late = await held.next()
  // Another run takes the call, as after a crash of its worker.
  await sql("update call set line_work_id = gen_random_uuid(), line_lease_until = now() - interval '1 hour' where id = $1", [id])
  const resumed = await held.next()
  resumed.answer({ text: "It is shipped." })
  await reported(id)
  late.answer({ text: "Too late." })
  expect((await look(id)).replies.map(({ text }: { text: string }) => text)).toEqual(["Hello!", "Where is my order?", "It is shipped."])
  expect(sentTo("/order")).toHaveLength(1)
})
