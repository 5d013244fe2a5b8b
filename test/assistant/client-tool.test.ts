import supertest from "supertest"
import { assistantLimits } from "../../src/assistant/limits.js"
import { reply } from "../../src/jobs/reply.js"
import { type FakeModelReply, startFakeOpenAi } from "../kit/fake-openai.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, globex, rest, gql } = w
const { write, said, control } = chatViews(w)
const time = stillTime()
const params = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] }
let ada: { id: string }
let tool: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
  const client = { assistantId: ada.id, name: "showSeat", type: "webhook_client", apiCallUrl: undefined, params }
  tool = await acme.tool({ ...client, timeoutSeconds: 30 })
  await acme.tool({ ...client, name: "showSeatBriefly", timeoutSeconds: 1 })
})
beforeEach(() => {
  openAi.requests.length = 0
})
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const answers = (...replies: FakeModelReply[]) => {
  openAi.reply = async () => (replies.length > 1 ? replies.shift()! : replies[0]!)
}

const mutation =
  "mutation ($id: UUID!, $output: JSON) { answerToolCall(toolCallId: $id, output: $output) { id status success response latencyMs } }"
const answer = (id: string, output: unknown, { token = acme.token, url = w.url } = {}) =>
  supertest(url)
    .post("/graphql")
    .set("X-Access-Token", token)
    .send({ query: mutation, variables: { id, output } })
    .then(({ body }) => body)
const refusal = async (id: string, output: unknown = {}, token = acme.token) =>
  (await answer(id, output, { token })).errors[0].extensions.code

/** A chat whose turn waits for a client, and the client's request. */
async function chatInCall(name = "showSeat") {
  const chat = await acme.chat({ assistantId: ada.id })
  await write(chat, "Where do I sit?")
  time.pass(4_000)
  answers({ toolCalls: [{ name, arguments: { seat: "7A" } }] }, { text: "By the window." })
  const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["TOOL_CALL_REQUESTED"] })
  const done = w.runDue()
  const { payload } = await heard.next()
  await heard.stop()
  return { chat, asked: payload, done }
}

const outputOf = async (chat: { id: string }) => {
  const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}`).expect(200)
  return body.data
    .filter(({ type }: { type: string }) => type === "FunctionCallOutput")
    .map((each: { functionCallOutput: object }) => each.functionCallOutput)
}
const entry = async (id: string) => {
  const { data } = await gql(
    acme.token,
    "query ($id: UUID!) { toolCalls(toolId: $id, take: 100) { nodes { id status response error } } }",
    { id: tool.id },
  )
  return data.toolCalls.nodes.find((node: { id: string }) => node.id === id)
}

describe("a tool that a client executes", () => {
  it("is requested by an event, answered by a mutation on any instance, and the assistant continues at once", async () => {
    const second = await w.another()
    await stopScheduler(second)
    const { chat, asked, done } = await chatInCall()
    expect(asked).toEqual({
      toolCallId: expect.any(String),
      chatId: chat.id,
      assistantId: ada.id,
      toolId: tool.id,
      name: "showSeat",
      arguments: { seat: "7A" },
      expiresAt: new Date(time.now() + 30_000).toISOString(),
    })
    expect(await entry(asked.toolCallId)).toMatchObject({ status: "PENDING" })
    time.pass(1_500)
    const { data } = await answer(asked.toolCallId, { place: "window" }, { url: second.url })
    const shown = { id: asked.toolCallId, status: "SUCCESS", success: true, response: { place: "window" }, latencyMs: 1_500 }
    expect(data.answerToolCall).toEqual(shown)
    await done
    expect(await outputOf(chat)).toEqual([{ callId: asked.toolCallId, status: "success", output: { place: "window" } }])
    expect(openAi.requests[1]!.body.messages.at(-1)).toMatchObject({ role: "tool", content: '<result>{"place":"window"}</result>' })
    expect(await said(chat)).toEqual([
      "Customer: Where do I sit?",
      "Assistant: FunctionCall",
      "Assistant: FunctionCallOutput",
      "Assistant: By the window.",
    ])
  })

  it("ends as an error when no client answers in time, and the turn continues; a late answer is refused", async () => {
    const { chat, asked, done } = await chatInCall("showSeatBriefly")
    await done
    expect(await outputOf(chat)).toMatchObject([{ status: "error", output: { error: "The client did not answer within 1 s" } }])
    expect((await said(chat)).at(-1)).toBe("Assistant: By the window.")
    expect(await refusal(asked.toolCallId)).toBe("BAD_USER_INPUT")
    expect(await outputOf(chat)).toHaveLength(1)
  })

  it("takes one answer, only from the company's clients", async () => {
    const { asked, done } = await chatInCall()
    expect(await refusal(asked.toolCallId, {}, globex.token)).toBe("NOT_FOUND")
    expect(await refusal(asked.toolCallId, "x".repeat(assistantLimits.toolResponseReadBytes))).toBe("BAD_USER_INPUT")
    const both = await Promise.all([1, 2].map((output) => answer(asked.toolCallId, output)))
    expect(both.map(({ errors }) => errors?.[0].extensions.code ?? "taken").toSorted()).toEqual(["BAD_USER_INPUT", "taken"])
    await done
    const [handOver] = (await rest.as(acme.token).get(`/api/assistant-tools-new?assistantId=${ada.id}&search=turnOff`)).body.data
    answers({ toolCalls: [{ name: "turnOffAiMode" }] })
    await write(await acme.chat({ assistantId: ada.id }))
    time.pass(4_000)
    await w.runDue()
    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${handOver.id}/logs`).expect(200)
    expect(await refusal(body.data[0].id)).toBe("BAD_USER_INPUT")
  })

  it("may have an empty answer: the call succeeded", async () => {
    const { chat, asked, done } = await chatInCall()
    await answer(asked.toolCallId, null)
    await done
    expect(await outputOf(chat)).toMatchObject([{ status: "success", output: { success: true } }])
  })

  it("does not block the chat when a person takes it over; an answer is still logged", async () => {
    const { chat, asked, done } = await chatInCall()
    await control(chat, false)
    await done
    expect(await outputOf(chat)).toMatchObject([{ callId: asked.toolCallId, status: "cancelled" }])
    expect(await entry(asked.toolCallId)).toMatchObject({ status: "PENDING" })
    await answer(asked.toolCallId, { place: "aisle" })
    expect(await entry(asked.toolCallId)).toMatchObject({ status: "SUCCESS", response: { place: "aisle" } })
    expect(await outputOf(chat)).toHaveLength(1)
    expect((await said(chat)).at(-1)).toBe("Assistant: FunctionCallOutput")
  })

  it("is abandoned by a server that stops, and another continues without it", async () => {
    const stopped = await w.another()
    await stopScheduler(stopped)
    const chat = await acme.chat({ assistantId: ada.id })
    await write(chat, "Where do I sit?")
    time.pass(4_000)
    answers({ toolCalls: [{ name: "showSeat", arguments: { seat: "7A" } }] }, { text: "I cannot say." })
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["TOOL_CALL_REQUESTED"] })
    await reply.sweep.run(stopped.services)
    await heard.next()
    await heard.stop()
    await stopped.stop()
    await w.runDue()
    expect(await outputOf(chat)).toMatchObject([{ status: "error", output: { error: expect.stringContaining("stopped") } }])
    expect((await said(chat)).at(-1)).toBe("Assistant: I cannot say.")
  })

  it("is not visible to the visitor", async () => {
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hi" }).expect(201)
    const refused = await gql(body.visitorToken, mutation, { id: tool.id, output: {} })
    expect(refused.errors![0]!.extensions.code).toBe("FORBIDDEN")
  })
})
