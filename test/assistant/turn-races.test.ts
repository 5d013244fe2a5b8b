import { startFakeOpenAi } from "../kit/fake-openai.js"
import { scraped } from "../kit/metrics.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, conversationOf, hold, stillTime, stopScheduler, systemOf } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql } = w
const { write, look, said, due, control } = chatViews(w)
const time = stillTime()
let model: ReturnType<typeof hold>
let ada: { id: string }
let bob: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada", prompt: "You are Ada." })
  bob = await acme.makeAssistant({ name: "Bob", prompt: "You are Bob." })
})
beforeEach(() => {
  openAi.requests.length = 0
  model = hold(openAi)
})
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const assign = (chat: { id: string }, assistant: { id: string }) =>
  rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: assistant.id }).expect(200)
const unassign = (chat: { id: string }) => rest.as(acme.token).patch(`/api/chats/${chat.id}/unassign-assistant`).expect(200)

/** A chat whose reply is due. */
async function chatToAnswer(fields = {}) {
  const chat = await acme.chat({ assistantId: ada.id, ...fields })
  await write(chat)
  time.pass(4_000)
  return chat
}

/** A chat whose turn runs: the model was called and has not answered yet. */
async function chatInTurn(fields = {}) {
  const chat = await chatToAnswer(fields)
  const done = w.runDue()
  return { chat, done, call: await model.next() }
}

/** Runs the due turns, and lets the model answer. */
async function answerDue(text: string) {
  const done = w.runDue()
  const call = await model.next()
  call.answer({ text })
  await done
  return call
}

describe("a customer's message during the model's call", () => {
  promised("restarts the turn, once; later ones are the next burst", async () => {
    const { chat, done, call: first } = await chatInTurn()
    time.pass(1_000)
    await write(chat, "Wait, something else")
    expect((await due(chat))! - time.now()).toBe(2_000)
    first.answer({ text: "Too early" })
    await done
    expect(await said(chat)).toEqual(["Customer: Hello", "Customer: Wait, something else"])

    time.pass(2_000)
    const doneAgain = w.runDue()
    const second = await model.next()
    expect(conversationOf(second.request)).toEqual(["user: <customer>Hello</customer>\n<customer>Wait, something else</customer>"])
    time.pass(500)
    await write(chat, "And this")
    time.pass(500)
    await write(chat, "And that")
    second.answer({ text: "To both" })
    await doneAgain
    expect((await said(chat)).at(-1)).toBe("Assistant: To both")
    expect((await due(chat))! - time.now()).toBe(4_000)

    time.pass(4_000)
    await answerDue("To the rest")
    expect(await said(chat)).toEqual([
      "Customer: Hello",
      "Customer: Wait, something else",
      "Customer: And this",
      "Customer: And that",
      "Assistant: To both",
      "Assistant: To the rest",
    ])
    expect(openAi.requests).toHaveLength(3)

    await write(chat, "A new burst")
    time.pass(4_000)
    const doneThen = w.runDue()
    const third = await model.next()
    await write(chat, "may restart its turn again")
    third.answer({ text: "Too early again" })
    // A sweep meanwhile would skip the row, which the end of this turn holds.
    await doneThen
    time.pass(4_000)
    await answerDue("As before")
    expect((await said(chat)).slice(-3)).toEqual(["Customer: A new burst", "Customer: may restart its turn again", "Assistant: As before"])
  })

  it("does not count the failure of the aborted call", async () => {
    const { chat, done, call } = await chatInTurn()
    await write(chat, "More")
    const then = await due(chat)
    call.answer({ status: 500 })
    await done
    expect(await due(chat)).toBe(then)
    time.pass(4_000)
    await answerDue("Here")
    expect((await said(chat)).at(-1)).toBe("Assistant: Here")
  })
})

describe("a take-over during the model's call", () => {
  const off = { isUnderAiControl: false }
  promised.each([
    ["by AI control", "/ai-control", off],
    ["for the system", "/ai-control", { ...off, aiDisableReason: "auto" }],
    ["by a change of the chat", "", off],
    ["by taking the assistant off", "/unassign-assistant", {}],
  ])("%s wins: the answer is dropped", async (_how, path, body) => {
    const { chat, done, call } = await chatInTurn()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}${path}`, body).expect(200)
    call.answer({ text: "Too late" })
    await done
    time.pass(20_000)
    await w.runDue()
    expect(await said(chat)).toEqual(["Customer: Hello"])
    expect(openAi.requests).toHaveLength(1)
  })

  promised("wins also over the assistant's hand-off, which leaves no frames", async () => {
    const { chat, done, call } = await chatInTurn()
    await control(chat, false)
    call.answer({ text: "Bye", toolCalls: [{ name: "turnOffAiMode" }] })
    await done
    expect(await said(chat)).toEqual(["Customer: Hello"])
    expect(await look(chat)).toMatchObject({ aiDisableReason: "manual", needsAttention: false })
  })

  promised("wins even when AI is on again before the model answers: the fence is the turn, not the flag", async () => {
    const { chat, done, call } = await chatInTurn()
    await control(chat, false)
    await control(chat, true)
    call.answer({ text: "From before" })
    await done
    expect(await said(chat)).toEqual(["Customer: Hello"])

    await write(chat, "Are you back?")
    time.pass(4_000)
    await answerDue("I am")
    expect(await said(chat)).toEqual(["Customer: Hello", "Customer: Are you back?", "Assistant: I am"])
  })

  it("aborts the call to the model", async () => {
    const calls = async (outcome: string) => {
      const counts = await scraped(w, "platform_model_call_duration_seconds_count")
      return [...counts].flatMap(([labels, count]) => (labels.includes(`outcome="${outcome}"`) ? [count] : [])).at(0) ?? 0
    }
    const before = [await calls("aborted"), await calls("failed")]
    const { chat, done } = await chatInTurn()
    await control(chat, false)
    await done
    expect(await said(chat)).toEqual(["Customer: Hello"])
    // It is no failure of the model's vendor.
    expect([await calls("aborted"), await calls("failed")]).toEqual([before[0]! + 1, before[1]])
  })

  promised("cancels queued messages", async () => {
    const { chat, done, call } = await chatInTurn({ messenger: "telegram", fromId: "shop" })
    await acme.connection("telegram", "shop")
    call.answer({ text: "On its way" })
    await done
    const latest = async () => (await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=1`).expect(200)).body.data[0]
    expect(await latest()).toMatchObject({ text: "On its way", status: "queued" })
    const heard = await subscribe(w, acme.token, { chatId: chat.id })
    await control(chat, false)
    expect(await latest()).toMatchObject({ text: "On its way", status: "cancelled" })
    const events = await heard.take(2)
    await heard.stop()
    expect(events.find(({ type }) => type === "MESSAGE_UPDATED")!.payload).toMatchObject({ text: "On its way", status: "cancelled" })
  })
})

describe("another assistant during the model's call", () => {
  promised("answers instead of the first, whose answer is discarded", async () => {
    const { chat, done, call } = await chatInTurn()
    await assign(chat, bob)
    const { request } = await answerDueBeside(call, done)
    expect(systemOf(request)).toContain("You are Bob.")
    expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: I am Bob"])
  })

  it("answers the next message when the first was unassigned before", async () => {
    const { chat, done, call } = await chatInTurn()
    await unassign(chat)
    await assign(chat, bob)
    call.answer({ text: "I am Ada" })
    await done
    await write(chat, "Who is there?")
    time.pass(4_000)
    const { request } = await answerDue("I am Bob")
    expect(systemOf(request)).toContain("You are Bob.")
    expect(await said(chat)).toEqual(["Customer: Hello", "Customer: Who is there?", "Assistant: I am Bob"])
  })

  /** The first answers while the second is asked. */
  async function answerDueBeside(first: Awaited<ReturnType<typeof model.next>>, firstDone: Promise<void>) {
    const done = w.runDue()
    const second = await model.next()
    first.answer({ text: "I am Ada" })
    second.answer({ text: "I am Bob" })
    await Promise.all([done, firstDone])
    return second
  }
})

it("the deletion of the chat during the model's call causes no error", async () => {
  const { chat, done, call } = await chatInTurn()
  await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
  call.answer({ text: "To nobody" })
  await done
  expect(await sql("select 1 from message where chat_id = $1", [chat.id])).toEqual([])
})
