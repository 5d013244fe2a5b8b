import { reply } from "../../src/jobs/reply.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { chatViews, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, sql } = w
const { write, said } = chatViews(w)
const time = stillTime()
let model: ReturnType<typeof hold>
let ada: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
})
beforeEach(() => {
  openAi.requests.length = 0
  model = hold(openAi)
})

/** A second server that does nothing by itself. */
async function another() {
  const server = await w.another()
  await stopScheduler(server)
  return server
}

/** A chat whose reply is due. */
async function chatToAnswer() {
  const chat = await acme.chat({ assistantId: ada.id })
  await write(chat)
  time.pass(4_000)
  return chat
}

/** The first server runs due turns, and the model answers. */
async function answerDue(text: string) {
  const done = w.runDue()
  const call = await model.next()
  call.answer({ text })
  await done
}

describe("several instances", () => {
  promised("that sweep at the same time claim each turn once", async () => {
    const second = await another()
    const chats = await Promise.all(Array.from({ length: 8 }, () => acme.chat({ assistantId: ada.id })))
    for (const chat of chats) await write(chat)
    time.pass(4_000)
    openAi.reply = async () => ({ text: "Once" })
    await Promise.all([w, second, w, second].map(({ services }) => reply.sweep.run(services)))
    await Promise.all([w, second].map(({ services }) => services.running.idle()))
    expect(openAi.requests).toHaveLength(8)
    for (const chat of chats) expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: Once"])
  })

  promised("claim a turn whose worker is lost for 10 s, and its later answer is not stored", async () => {
    const lost = await another()
    const chat = await chatToAnswer()
    await reply.sweep.run(lost.services)
    const first = await model.next()
    time.pass(9_999)
    await w.runDue()
    expect(openAi.requests).toHaveLength(1)
    time.pass(1)
    await answerDue("From the second")
    first.answer({ text: "From the first, too late" })
    await lost.services.running.idle()
    expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: From the second"])
  })

  promised("do not claim a turn whose worker renews its lease", async () => {
    const chat = await chatToAnswer()
    const done = w.runDue()
    const call = await model.next()
    const second = await another()
    const lease = async () => (await sql("select turn_lease_until::text as until from chat where id = $1", [chat.id]))[0].until
    const before = await lease()
    time.pass(9_999)
    await until("the lease is renewed", async () => (await lease()) !== before)
    time.pass(9_999)
    await reply.sweep.run(second.services)
    await second.services.running.idle()
    call.answer({ text: "Took its time" })
    await done
    expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: Took its time"])
    expect(openAi.requests).toHaveLength(1)
  })

  it("claim at once the turns of one that stops", async () => {
    const stopped = await another()
    const chat = await chatToAnswer()
    await reply.sweep.run(stopped.services)
    const first = await model.next()
    await stopped.stop()
    await answerDue("From the other")
    first.answer({ text: "From the one that stopped" })
    expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: From the other"])
    expect(openAi.requests).toHaveLength(2)
  })
})
