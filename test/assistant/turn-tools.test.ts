import { assistantLimits } from "../../src/assistant/limits.js"
import { entityLimits } from "../../src/entities/limits.js"
import { RateLimited } from "../../src/errors/errors.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { lostToolCalls } from "../../src/jobs/lost-tool-calls.js"
import { reply } from "../../src/jobs/reply.js"
import { type FakeModelReply, startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { type Mode, receiver } from "../kit/receiver.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, hold, stillTime, stopScheduler, unwrapped } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const endpoint = await receiver()
const shipped = { json: { status: "shipped" } }
/** The requests to the integrator's endpoint. */
const reached = () =>
  endpoint.requests.map(({ headers, body }) => ({
    callId: headers["x-tool-call-id"],
    body: body.length > 0 ? JSON.parse(body.toString()) : null,
  }))

const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([openAi.close(), endpoint.close()]))

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, globex, rest, gql, sql } = w
const { write, look, said, due, control } = chatViews(w)
const time = stillTime()
const params = { type: "object", properties: { orderId: { type: "integer" } }, required: ["orderId"], additionalProperties: false }
let ada: { id: string }
let tool: { id: string; name: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
  tool = await acme.tool({ assistantId: ada.id, name: "getOrder", params, apiCallUrl: endpoint.url })
})
beforeEach(() => {
  openAi.requests.length = endpoint.requests.length = 0
  endpoint.answer(shipped)
})
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const callsOrder = (orderId: unknown = 77): FakeModelReply => ({ toolCalls: [{ id: "call_1", name: "getOrder", arguments: { orderId } }] })

/** The model returns these in turn, and then always the last one. */
function answers(...replies: FakeModelReply[]) {
  openAi.reply = async () => (replies.length > 1 ? replies.shift()! : replies[0]!)
}

/** A chat whose reply is due. */
async function chatToAnswer(assistant = ada) {
  const chat = await acme.chat({ assistantId: assistant.id })
  await write(chat, "Where is order 77?")
  time.pass(4_000)
  return chat
}

/** The frames of a chat's tool calls, oldest first. */
async function frames(chat: { id: string }) {
  const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=100`).expect(200)
  const shown = body.data.reverse().filter(({ type }: { type: string }) => type.startsWith("Function"))
  return shown.map(({ functionCall, functionCallOutput }: Record<string, unknown>) => functionCall ?? functionCallOutput)
}

/** The log of a tool, oldest first. */
async function log(of = tool) {
  const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${of.id}/logs?take=100`).expect(200)
  return body.data.reverse()
}
const logOf = async (chat: { id: string }) => (await log()).filter(({ chatId }: { chatId: string }) => chatId === chat.id)

const question = "Customer: Where is order 77?"
const bothFrames = ["Assistant: FunctionCall", "Assistant: FunctionCallOutput"]
/** The tool results in the last request to the model. */
const toldLast = () =>
  openAi.requests
    .at(-1)!
    .body.messages.filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => unwrapped(content))

describe("a tool that the model calls", () => {
  it("is called once, is in the log and in the chat, and the answer uses its result", async () => {
    answers(callsOrder(), { text: "It was shipped." })
    const chat = await chatToAnswer()
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["MESSAGE_CREATED"] })
    await w.runDue()

    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
    const [call, output] = await frames(chat)
    expect(reached()).toEqual([{ callId: call.callId, body: { orderId: 77 } }])
    expect(call).toEqual({ callId: expect.any(String), name: "getOrder", arguments: { orderId: 77 } })
    expect(output).toEqual({ callId: call.callId, output: { status: "shipped" }, status: "success" })
    const [entry] = await logOf(chat)
    expect(entry).toMatchObject({ id: call.callId, toolId: tool.id, params: { orderId: 77 }, response: { status: "shipped" }, error: null })
    expect(entry).toMatchObject({ success: true, status: "success", responseStatus: 200, latencyMs: expect.any(Number) })
    expect(toldLast()).toEqual(['{"status":"shipped"}'])
    expect((await heard.take(3)).map(({ payload }) => payload.type)).toEqual(["FunctionCall", "FunctionCallOutput", "Text"])
    await heard.stop()
    const { data } = await gql(acme.token, "query ($id: UUID!) { chat(id: $id) { assistantTurns { rounds outcome } } }", { id: chat.id })
    expect(data.chat.assistantTurns).toEqual([{ rounds: 2, outcome: "ANSWERED" }])
    // Frames are not conversation: the list shows the last text.
    expect(await look(chat)).toMatchObject({ unreadCount: 1 })
  })

  it("is logged before the request is sent, and the chat is not locked during the call", async () => {
    answers(callsOrder(), { text: "It was shipped." })
    const seen: unknown[] = []
    const chat = await chatToAnswer()
    endpoint.answer(async ({ headers }) => {
      const id = headers["x-tool-call-id"]
      seen.push(...(await sql("select status, chat_id from tool_call where id = $1", [id])))
      seen.push(...(await sql("select type from message where function_call ->> 'callId' = $1", [id])))
      seen.push(...(await sql("select 1 as locked from chat where id = $1 for update nowait", [chat.id])))
      return shipped
    })
    await w.runDue()
    expect(seen).toEqual([{ status: "pending", chat_id: chat.id }, { type: "FunctionCall" }, { locked: 1 }])
  })

  it("may be several in one round and in several rounds, in their order", async () => {
    const two = [1, 2].map((orderId) => ({ id: `call_${orderId}`, name: "getOrder", arguments: { orderId } }))
    answers({ toolCalls: two }, callsOrder(3), { text: "All three were shipped." })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(reached().map(({ body }) => body)).toEqual([{ orderId: 1 }, { orderId: 2 }, { orderId: 3 }])
    expect(await said(chat)).toEqual([question, ...bothFrames, ...bothFrames, ...bothFrames, "Assistant: All three were shipped."])
    expect(openAi.requests[1]!.body.messages.at(-3).tool_calls).toHaveLength(2)
  })

  it("is not called while the company may check no arguments: the model is told so", async () => {
    const { toolSchemas } = w.services
    answers(callsOrder(), { text: "Later." })
    const chat = await chatToAnswer()
    toolSchemas.faultsOfArguments = () => Promise.reject(new RateLimited(30, "The tools of this company took too much time"))
    await w.runDue()
    Reflect.deleteProperty(toolSchemas, "faultsOfArguments")
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: Later."])
    expect(toldLast()[0]).toMatch(/do not fit.*took too much time/)
    expect(await logOf(chat)).toMatchObject([{ status: "error", responseStatus: null }])
    expect(reached()).toEqual([])
  })

  it("is not called with invalid arguments: the model gets the reasons", async () => {
    answers(callsOrder("seventy-seven"), { text: "Which number?" })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(reached()).toEqual([])
    const [call, output] = await frames(chat)
    expect(call.arguments).toEqual({ orderId: "seventy-seven" })
    expect(output).toMatchObject({ callId: call.callId, status: "error" })
    expect(toldLast()[0]).toMatch(/do not fit.*params\.orderId.*must be integer/)
    expect(await logOf(chat)).toMatchObject([{ status: "error", params: { orderId: "seventy-seven" }, responseStatus: null }])
    expect((await said(chat)).at(-1)).toBe("Assistant: Which number?")
  })

  it.each([
    ["{oops", "{oops"],
    ["[1]", [1]],
    ["null", {}],
    ["", {}],
  ])("survives arguments like %j", async (given, kept) => {
    answers({ toolCalls: [{ name: "getOrder", arguments: given }] }, { text: "Sorry." })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(reached()).toEqual([])
    expect((await frames(chat))[0].arguments).toEqual(kept)
    expect((await said(chat)).at(-1)).toBe("Assistant: Sorry.")
  })

  it("is offered for at most 8 rounds, over all tries: then the model has to answer without", async () => {
    let broken = 0
    openAi.reply = async ({ body }) => {
      if (endpoint.requests.length === 3 && ++broken === 1) return { status: 500 }
      return body.tools ? callsOrder(endpoint.requests.length) : { text: "Enough." }
    }
    const chat = await chatToAnswer()
    await w.runDue()
    time.pass((await due(chat))! - time.now())
    await w.runDue()
    expect(reached()).toHaveLength(assistantLimits.toolRounds)
    expect((await said(chat)).at(-1)).toBe("Assistant: Enough.")
  })

  it("is offered for 60 s", async () => {
    openAi.reply = async ({ body }) => (body.tools ? callsOrder() : { text: "Enough." })
    endpoint.answer(() => {
      time.pass(30_000)
      return shipped
    })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(reached()).toHaveLength(2)
    expect((await said(chat)).at(-1)).toBe("Assistant: Enough.")
  })

  it("is not called again when the model fails afterwards: the next try reads the result", async () => {
    answers(callsOrder(), { status: 500 }, { text: "It was shipped." })
    const chat = await chatToAnswer()
    await w.runDue()
    time.pass((await due(chat))! - time.now())
    await w.runDue()
    expect(reached()).toHaveLength(1)
    expect(toldLast()).toEqual(['{"status":"shipped"}'])
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
  })
})

describe("an endpoint's answer", () => {
  const long = "x".repeat(5 * 1024 * 1024)
  const error = (text: RegExp, more = {}) => ({ status: "error" as const, output: { error: expect.stringMatching(text), ...more } })
  const success = (output: unknown) => ({ status: "success" as const, output })
  const entryOf = (status: number | null, response: unknown) => ({ responseStatus: status, response })

  it.each<[string, Mode, object, object]>([
    ["200", 200, success({ ok: true }), entryOf(200, { ok: true })],
    ["201", 201, success({ ok: true }), entryOf(201, { ok: true })],
    ["204, which says nothing", 204, success({ success: true }), entryOf(204, null)],
    ["404", 404, error(/status 404/, { status: 404, response: { ok: true } }), entryOf(404, { ok: true })],
    ["500", 500, error(/status 500/, { status: 500, response: { ok: true } }), entryOf(500, { ok: true })],
    ["silence", "hang", error(/within 1 s/), entryOf(null, null)],
    ["a connection that breaks", "reset", error(/connection was closed/), entryOf(null, null)],
    ["a redirect, which is not followed", "redirect", error(/status 302/, { status: 302 }), entryOf(302, null)],
    [
      "5 MB, of which the beginning is read, and less is shown",
      "large",
      success(expect.stringMatching(/^\{"text":"x+$/)),
      entryOf(200, expect.any(String)),
    ],
    ["what is no JSON", "text", success("<p>No JSON</p>"), entryOf(200, "<p>No JSON</p>")],
    ["an answer that never ends", "drip", error(/within 1 s/), entryOf(null, null)],
  ])("of %s is one request, in the log and in the frame, and the turn goes on", async (_how, mode, frame, entry) => {
    const eve = await acme.makeAssistant({ name: "Eve" })
    const brief = await acme.tool({ assistantId: eve.id, name: "getOrder", params, apiCallUrl: endpoint.url, timeoutSeconds: 1 })
    endpoint.answer(mode)
    answers(callsOrder(), { text: "That is what I know." })
    const chat = await chatToAnswer(eve)
    await w.runDue()
    expect(endpoint.requests).toHaveLength(1)
    const [call, output] = await frames(chat)
    expect(output).toEqual({ callId: call.callId, ...frame })
    const { status } = frame as { status: string }
    expect(await log(brief)).toMatchObject([
      { id: call.callId, status, success: status === "success", latencyMs: expect.any(Number), ...entry },
    ])
    expect(JSON.stringify(output.output).length).toBeLessThan(17 * 1024)
    expect(JSON.stringify((await log(brief))[0]).length).toBeLessThan(long.length / 10)
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: That is what I know."])
  })
})

describe("which tools a model is offered", () => {
  const offered = () => openAi.requests[0]!.body.tools?.map((each: { function: { name: string } }) => each.function.name).toSorted()

  it("are those of its assistant for chats that are switched on", async () => {
    const eve = await acme.makeAssistant({ name: "Eve" })
    await acme.tool({ assistantId: eve.id, name: "lookUp" })
    await acme.tool({ assistantId: eve.id, name: "showMap", type: "webhook_client", apiCallUrl: undefined })
    await acme.tool({ assistantId: eve.id, name: "atCallStart", type: "webhook_init" })
    await acme.tool({ assistantId: eve.id, name: "afterCall", type: "webhook_postcall" })
    await acme.tool({ assistantId: eve.id, name: "switchedOff", disabled: true })
    answers({ text: "Yes" })
    await chatToAnswer(eve)
    await w.runDue()
    expect(offered()).toEqual(["lookUp", "showMap", "turnOffAiMode"])
  })

  it("exclude a built-in one that is switched off: the model is told that it does not exist", async () => {
    const eve = await acme.makeAssistant({ name: "Eve" })
    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new?assistantId=${eve.id}&search=turnOffAiMode`).expect(200)
    await rest.as(acme.token).patch(`/api/assistant-tools-new/${body.data[0].id}`, { disabled: true }).expect(200)
    answers({ toolCalls: [{ name: "turnOffAiMode" }] }, { text: "I stay." })
    const chat = await chatToAnswer(eve)
    await w.runDue()
    expect(offered()).toBeUndefined()
    expect(await said(chat)).toEqual([question, "Assistant: I stay."])
    expect(await look(chat)).toMatchObject({ isUnderAiControl: true })
  })
})

describe("handing over with tools", () => {
  it("is stored after earlier calls and prevents later ones; it is in the log too", async () => {
    const handOver = { id: "call_2", name: "turnOffAiMode", arguments: { reason: "Lost parcel" } }
    const order = (orderId: number) => ({ id: `call_${orderId}`, name: "getOrder", arguments: { orderId } })
    answers({ text: "I get somebody.", toolCalls: [order(1), handOver, order(3)] })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(reached().map(({ body }) => body)).toEqual([{ orderId: 1 }])
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: I get somebody.", ...bothFrames])
    expect(await look(chat)).toMatchObject({ aiDisableReason: "auto" })
    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new?assistantId=${ada.id}&search=turnOffAiMode`).expect(200)
    expect((await log(body.data[0])).at(-1)).toMatchObject({ chatId: chat.id, status: "success", params: handOver.arguments })
  })
})

describe("tagging", () => {
  it("attaches tags of the company that are not excluded, and notifies its clients", async () => {
    for (const name of ["Parcel", "VIP", "Straße", "Angry"]) await acme.tag({ name })
    await globex.tag({ name: "Foreign" })
    const eve = await acme.makeAssistant({ name: "Eve", excludedTags: ["vip", "STRASSE"] })
    answers({ toolCalls: [{ name: "setChatTags", arguments: { tags: ["Parcel", "Angry"] } }] }, { text: "Noted." })
    const chat = await chatToAnswer(eve)
    await rest.as(acme.token).post(`/api/chats/${chat.id}/meta/labels`, { label: "Angry" }).expect(201)
    const heard = await subscribe(w, acme.token, { chatId: chat.id, types: ["CHAT_UPDATED"] })
    await w.runDue()
    const [schema] = openAi.requests[0]!.body.tools.filter((each: { function: { name: string } }) => each.function.name === "setChatTags")
    expect(schema.function.parameters.properties.tags.items.enum).toEqual(["Angry", "Parcel"])
    expect((await look(chat)).meta.labels).toEqual(["Angry", "Parcel"])
    expect((await heard.next()).payload.meta.labels).toEqual(["Angry", "Parcel"])
    await heard.stop()
    expect((await frames(chat))[1]).toMatchObject({ status: "success", output: { success: true, tags: ["Angry", "Parcel"] } })

    answers({ toolCalls: [{ name: "setChatTags", arguments: { tags: ["VIP", "Foreign"] } }] }, { text: "Cannot." })
    await write(chat)
    time.pass(4_000)
    await w.runDue()
    expect((await look(chat)).meta.labels).toEqual(["Angry", "Parcel"])
    expect(toldLast().at(-1)).toContain("do not fit")
  })
})

describe("during a call of a tool", () => {
  /** Holds the endpoint's response; resolves when the request arrives. */
  function holdEndpoint() {
    let go!: (mode: Mode) => void
    const held = new Promise<Mode>((resolve) => {
      go = resolve
    })
    endpoint.answer(() => held)
    return { came: endpoint.arrived(endpoint.requests.length + 1), go: () => go(shipped) }
  }

  /** A chat whose turn waits for the endpoint. */
  async function chatInCall(server = w as Pick<typeof w, "services">) {
    const held = holdEndpoint()
    answers(callsOrder(), { text: "It was shipped." })
    const chat = await chatToAnswer()
    await reply.sweep.run(server.services)
    await held.came
    return { chat, answer: held.go, done: () => server.services.running.idle() }
  }

  async function another() {
    const server = await w.another()
    await stopScheduler(server)
    return server
  }

  it("a newer message does not restart the turn: it is the next burst", async () => {
    const { chat, answer, done } = await chatInCall()
    await write(chat, "And order 78?")
    answer()
    await done()
    expect(await said(chat)).toEqual([
      question,
      "Assistant: FunctionCall",
      "Customer: And order 78?",
      "Assistant: FunctionCallOutput",
      "Assistant: It was shipped.",
    ])
    expect((await due(chat))! - time.now()).toBe(4_000)
    time.pass(4_000)
    await w.runDue()
    expect((await said(chat)).slice(-1)).toEqual(["Assistant: It was shipped."])
    expect(openAi.requests).toHaveLength(3)
    expect(reached()).toHaveLength(1)
  })

  const off = { isUnderAiControl: false }
  it.each([
    ["by AI control", "/ai-control", off],
    ["by a change of the chat", "", off],
    ["by taking the assistant off", "/unassign-assistant", {}],
  ])("a take-over %s closes the frame; the outcome is logged, and no message is added", async (_how, path, body) => {
    const { chat, answer, done } = await chatInCall()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}${path}`, body).expect(200)
    const [call, output] = await frames(chat)
    expect(output).toEqual({ callId: call.callId, status: "cancelled", output: { error: expect.any(String) } })
    expect(await logOf(chat)).toMatchObject([{ status: "pending" }])
    const before = await said(chat)
    answer()
    await done()
    expect(await said(chat)).toEqual(before)
    expect(await logOf(chat)).toMatchObject([{ id: call.callId, status: "success", response: { status: "shipped" } }])
    expect(openAi.requests).toHaveLength(1)
  })

  it("another assistant starts over, and reads that the first one's call was cancelled", async () => {
    const bob = await acme.makeAssistant({ name: "Bob" })
    const { chat, answer, done } = await chatInCall()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: bob.id }).expect(200)
    answer()
    await done()
    openAi.reply = async () => ({ text: "I am Bob" })
    await w.runDue()
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: I am Bob"])
    expect((await frames(chat))[1].status).toBe("cancelled")
    expect(toldLast()[0]).toContain("ended before the result was known")
  })

  it("a lost worker leaves a call with an unknown result: it ends as an error, and the next worker does not call again", async () => {
    const lost = await another()
    const { chat, answer, done } = await chatInCall(lost)
    time.pass(entityLimits.turnLeaseMs)
    openAi.reply = async () => ({ text: "I could not find out." })
    await w.runDue()
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: I could not find out."])
    expect((await frames(chat))[1]).toMatchObject({ status: "error" })
    expect(toldLast()[0]).toMatch(/The result is unknown/)
    expect(await logOf(chat)).toMatchObject([{ status: "error", success: false, latencyMs: null }])
    answer()
    await done()
    expect(reached()).toHaveLength(1)
    expect(await said(chat)).toHaveLength(4)
  })

  it("a worker that is lost after the result leaves it to the next, which answers from it", async () => {
    const lost = await another()
    const model = hold(openAi)
    const chat = await chatToAnswer()
    await reply.sweep.run(lost.services)
    const first = await model.next()
    first.answer(callsOrder())
    const second = await model.next()
    time.pass(entityLimits.turnLeaseMs)
    const done = w.runDue()
    const third = await model.next()
    expect(third.request.body.messages.at(-1)).toMatchObject({ role: "tool", content: '<result>{"status":"shipped"}</result>' })
    third.answer({ text: "It was shipped." })
    await done
    second.answer({ text: "Too late" })
    await lost.services.running.idle()
    expect(reached()).toHaveLength(1)
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
  })

  it("a server that stops waits for the result and stores it; another continues from there", async () => {
    const stopped = await another()
    const { chat, answer } = await chatInCall(stopped)
    const stop = stopped.stop()
    answer()
    await stop
    expect(await logOf(chat)).toMatchObject([{ status: "success" }])
    await w.runDue()
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
    expect(reached()).toHaveLength(1)
  })

  it("the chat may be deleted: the log remains", async () => {
    const { chat, answer, done } = await chatInCall()
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    answer()
    await done()
    expect((await log()).at(-1)).toMatchObject({ chatId: null, status: "success" })
  })

  it("the tool may be deleted: the turn continues", async () => {
    const eve = await acme.makeAssistant({ name: "Eve" })
    const brief = await acme.tool({ assistantId: eve.id, name: "getOrder", params, apiCallUrl: endpoint.url })
    const held = holdEndpoint()
    answers(callsOrder(), { text: "It was shipped." })
    const chat = await chatToAnswer(eve)
    const done = w.runDue()
    await held.came
    await rest.as(acme.token).delete(`/api/assistant-tools-new/${brief.id}`).expect(200)
    held.go()
    await done
    expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
    expect((await frames(chat))[1].status).toBe("success")
  })

  it("a tool that was switched off after the model's request is not called", async () => {
    const eve = await acme.makeAssistant({ name: "Eve" })
    const brief = await acme.tool({ assistantId: eve.id, name: "getOrder", params, apiCallUrl: endpoint.url })
    const model = hold(openAi)
    const chat = await chatToAnswer(eve)
    const done = w.runDue()
    const first = await model.next()
    await rest.as(acme.token).patch(`/api/assistant-tools-new/${brief.id}`, { disabled: true }).expect(200)
    first.answer(callsOrder())
    const second = await model.next()
    second.answer({ text: "I cannot." })
    await done
    expect(reached()).toEqual([])
    expect(await said(chat)).toEqual([question, "Assistant: I cannot."])
  })

  promised("a take-over and AI on again in between change nothing: the old turn is over", async () => {
    const { chat, answer, done } = await chatInCall()
    await control(chat, false)
    await control(chat, true)
    answer()
    await done()
    expect(await said(chat)).toEqual([question, ...bothFrames])
    expect((await frames(chat))[1].status).toBe("cancelled")
  })
})

promised(
  "two instances and take-overs at random moments leave each chat with one call, both frames, and no message after a take-over",
  async () => {
    const second = await w.another()
    await stopScheduler(second)
    // The vendors take their time, so that take-overs come during their calls.
    openAi.reply = async ({ body }) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return body.messages.some(({ role }: { role: string }) => role === "tool") ? { text: "It was shipped." } : callsOrder()
    }
    endpoint.answer(async () => {
      // Not a wait: the time that the endpoint takes.
      await new Promise((resolve) => setTimeout(resolve, 40))
      return shipped
    })
    const chats = await Promise.all(Array.from({ length: 24 }, () => acme.chat({ assistantId: ada.id })))
    await Promise.all(chats.map((chat) => write(chat, "Where is order 77?")))
    time.pass(7_000)
    const before = openAi.requests.length + endpoint.requests.length
    const takeOvers = chats.map(async (chat, index) => {
      if (index % 2 === 0) return
      // The chats without a take-over alone cause more requests than the last one waits for.
      await until("the turns have come so far", () => openAi.requests.length + endpoint.requests.length - before >= index)
      await control(chat, false)
      return said(chat)
    })
    for (const { services } of [w, second, w, second]) await reply.sweep.run(services)
    const saidThen = await Promise.all(takeOvers)
    await Promise.all([w, second].map(({ services }) => services.running.idle()))

    const callIds = reached().map(({ callId }) => callId)
    expect(new Set(callIds).size).toBe(callIds.length)
    for (const [index, chat] of chats.entries()) {
      const pair = await frames(chat)
      expect(pair.map(({ callId }: { callId: string }) => callId)).toEqual(pair[0] ? [pair[0].callId, pair[0].callId] : [])
      if (saidThen[index]) expect(await said(chat)).toEqual(saidThen[index])
      else expect(await said(chat)).toEqual([question, ...bothFrames, "Assistant: It was shipped."])
    }
    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs?status=pending`).expect(200)
    expect(body.data).toEqual([])
  },
)

promised("a call that a crash left pending, without a turn, ends as an error after a while", async () => {
  const insert = `insert into tool_call (id, company_id, tool_id, params, created_at) values (gen_random_uuid(), $1, $2, '{}', $3) returning id`
  const at = (seconds: number) => new Date(time.now() - seconds * 1000)
  const [old] = await sql(insert, [acme.id, tool.id, at(jobLimits.lostToolCallSeconds + 1)])
  const [young] = await sql(insert, [acme.id, tool.id, at(jobLimits.lostToolCallSeconds - 1)])
  await lostToolCalls.run(w.services)
  const entries = new Map((await log()).map((entry: { id: string }) => [entry.id, entry]))
  expect(entries.get(old.id)).toMatchObject({ status: "error", error: expect.stringContaining("The result is unknown") })
  expect(entries.get(young.id)).toMatchObject({ status: "pending" })
})

describe("the offline model", () => {
  it("calls a tool that the customer names, with the arguments it finds, and reports the result", async () => {
    const { body: models } = await gql(acme.token, "{ textModels { id provider } }").then(({ data }) => ({ body: data.textModels }))
    const textModelId = models.at(-1).id
    const eve = await acme.makeAssistant({ name: "Eve", textModelId })
    await acme.tool({ assistantId: eve.id, name: "getOrderStatus", params, apiCallUrl: endpoint.url })
    const chat = await acme.chat({ assistantId: eve.id })
    await write(chat, "What is the order status of 77?")
    time.pass(4_000)
    await w.runDue()
    expect(reached().map(({ body }) => body)).toEqual([{ orderId: 77 }])
    expect((await said(chat)).at(-1)).toContain("shipped")
    await write(chat, "Can I talk to a person, please?")
    time.pass(4_000)
    await w.runDue()
    expect(await look(chat)).toMatchObject({ aiDisableReason: "auto" })
    expect(reached()).toHaveLength(1)
  })
})
