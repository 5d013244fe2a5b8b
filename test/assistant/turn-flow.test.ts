import { contextLimits } from "../../src/context/limits.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { chatViews, conversationOf, type HeldCall, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { type World, world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())
beforeEach(() => {
  openAi.requests.length = 0
})

/** A number of chats with an assistant of the company. */
async function chatsOf({ acme }: World, count: number): Promise<{ id: string }[]> {
  const assistant = await acme.makeAssistant({ name: "Ada" })
  return Promise.all(Array.from({ length: count }, () => acme.chat({ assistantId: assistant.id })))
}

describe("an instance that runs three turns at once", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url, TURNS_AT_ONCE: "3" })
  const time = stillTime()
  beforeAll(() => stopScheduler(w))

  it("starts those that wait in the order of their due times, whenever one ends", async () => {
    const { write, said } = chatViews(w)
    const model = hold(openAi)
    const chats = await chatsOf(w, 8)
    for (const [place, chat] of chats.entries()) {
      await write(chat, `Question ${place}`)
      time.pass(1)
    }
    time.pass(4_000)
    const done = w.runDue()
    const running = [await model.next(), await model.next(), await model.next()]
    const asked = (call: { request: (typeof openAi.requests)[number] }) => conversationOf(call.request)[0]
    expect(running.map(asked).sort()).toEqual([0, 1, 2].map((place) => `user: <customer>Question ${place}</customer>`))
    for (let place = 3; place < chats.length; place += 1) {
      expect(openAi.requests).toHaveLength(place)
      running.shift()!.answer({ text: "An answer" })
      running.push(await model.next())
      expect(asked(running.at(-1)!)).toBe(`user: <customer>Question ${place}</customer>`)
    }
    for (const call of running) call.answer({ text: "An answer" })
    await done
    for (const [place, chat] of chats.entries()) expect(await said(chat)).toEqual([`Customer: Question ${place}`, "Assistant: An answer"])
  })
})

describe("turns whose answers wait for the database", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const time = stillTime()
  beforeAll(() => stopScheduler(w))

  it("leave connections to requests and to the turns of another company, and are all stored", async () => {
    const { acme, globex, rest } = w
    const { write, said } = chatViews(w)
    const model = hold(openAi)
    // More than the pool has connections.
    const chats = await chatsOf(w, 12)
    for (const chat of chats) await write(chat)
    const others = await globex.chat({ assistantId: (await globex.makeAssistant({ name: "Bea" })).id })
    await globex.message({ chatId: others.id, text: "And mine?", role: "Customer" })
    time.pass(4_000)
    const done = w.runDue()
    const calls: HeldCall[] = []
    for (let count = 0; count <= chats.length; count += 1) calls.push(await model.next())
    await using blocked = await blockWrites(w, "insert on message", `new.role = 'Assistant' and new.company_id = '${acme.id}'`)
    const isOthers = ({ request }: HeldCall) => conversationOf(request)[0]!.includes("And mine?")
    for (const call of calls.filter((each) => !isOthers(each))) call.answer({ text: "An answer" })
    await blocked.waiting(contextLimits.connectionUses.workOfCompany)
    await rest.as(acme.token).get("/api/chats").expect(200)
    calls.find(isOthers)!.answer({ text: "An answer to Globex" })
    await until("the other company's question is answered", async () => {
      const { body } = await rest.as(globex.token).get(`/api/messages?chatId=${others.id}`).expect(200)
      return body.data[0].text === "An answer to Globex"
    })
    await blocked.open()
    await done
    for (const chat of chats) expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: An answer"])
  })
})
