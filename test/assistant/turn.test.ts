import fc from "fast-check"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { statementsOf } from "../kit/statements.js"
import { storedJobs } from "../kit/stored-jobs.js"
import { chatViews, conversationOf, stillTime, stopScheduler, systemOf } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

describe("by the sweep, with a stopped clock", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, rest, gql, sql } = w
  const { write, look, said, due, control } = chatViews(w)
  const time = stillTime()
  let ada: { id: string }

  beforeAll(async () => {
    await stopScheduler(w)
    ada = await acme.makeAssistant({ name: "Ada", prompt: "You are Ada of Acme." })
  })
  beforeEach(() => {
    openAi.requests.length = 0
    openAi.reply = async () => ({ text: "An answer" })
  })
  const chatWithAda = () => acme.chat({ assistantId: ada.id })

  describe("when the reply is due", () => {
    it.each([
      ["4 s after a single message", [0], 4_000],
      ["4 s after the last of two", [0, 1_000], 5_000],
      ["4 s after the last, as long as that is within 7 s of the first", [0, 2_999], 6_999],
      ["at most 7 s after the first", [0, 3_500], 7_000],
      ["7 s after the first, for someone who does not stop", [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 6_999], 7_000],
      ["4 s after many at once", [0, 0, 0, 0], 4_000],
    ])("is %s", async (_when, arrivals, expected) => {
      const chat = await chatWithAda()
      const first = time.now()
      for (const arrival of arrivals) {
        time.pass(first + arrival - time.now())
        await write(chat)
      }
      expect((await due(chat))! - first).toBe(expected)
    })

    promised("holds for every burst, and each is answered once", async () => {
      const gaps = fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 5 })
      const holds = fc.asyncProperty(gaps, async (between) => {
        const chat = await chatWithAda()
        const bursts: { first: number; due: number }[] = []
        for (const gap of [0, ...between]) {
          time.pass(gap)
          await w.runDue()
          await write(chat)
          const burst = bursts.at(-1)
          const first = burst && time.now() < burst.due ? burst.first : time.now()
          if (first === burst?.first) bursts.pop()
          bursts.push({ first, due: Math.min(time.now() + 4_000, first + 7_000) })
          expect(await due(chat)).toBe(bursts.at(-1)!.due)
        }
        time.pass(4_000)
        await w.runDue()
        const answers = (await said(chat)).filter((line) => line.startsWith("Assistant"))
        expect(answers).toHaveLength(bursts.length)
      })
      await fc.assert(holds, { numRuns: 12 })
    })

    it("is not before its due time, and not repeated", async () => {
      const chat = await chatWithAda()
      await write(chat, "One")
      time.pass(3_999)
      await w.runDue()
      expect(openAi.requests).toHaveLength(0)
      time.pass(1)
      await w.runDue()
      await w.runDue()
      expect(await said(chat)).toEqual(["Customer: One", "Assistant: An answer"])
      expect(await due(chat)).toBeNull()
      expect(openAi.requests).toHaveLength(1)
    })
  })

  it("answers a visitor of the widget from the assistant's knowledge, and tells the company's clients", async () => {
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "When are you open?" }).expect(201)
    const heard = await subscribe(w, acme.token, { chatId: body.chatId, types: ["MESSAGE_CREATED"] })
    time.pass(4_000)
    await w.runDue()

    const { payload } = await heard.next()
    await heard.stop()
    const message = (await rest.as(acme.token).get(`/api/messages?chatId=${body.chatId}&take=1`).expect(200)).body.data[0]
    expect(message).toMatchObject({ role: "Assistant", type: "Text", status: "sent", fromId: "acme-site", authorId: null })
    expect(message.text).toContain("Monday to Friday from 9:00 to 18:00")
    expect(payload).toEqual(message)
    expect((await look({ id: body.chatId })).lastMessageAt).toBe(message.createdAt)
  })

  describe("the start of a turn", () => {
    it("needs a customer's message: one of the company changes neither AI control nor the due time", async () => {
      const chat = await chatWithAda()
      await acme.message({ chatId: chat.id, text: "May I help?" })
      expect(await due(chat)).toBeNull()
      await write(chat, "Yes")
      const before = await due(chat)
      time.pass(1_000)
      await acme.message({ chatId: chat.id, text: "Gladly" })
      expect(await due(chat)).toBe(before)
      expect(await look(chat)).toMatchObject({ isUnderAiControl: true, aiDisableReason: null })
    })

    it("does not happen in a group, whatever its flag", async () => {
      const group = await acme.chat({ chatType: "group" })
      const flagged = await rest.as(acme.token).patch(`/api/chats/${group.id}`, { assistantId: ada.id, isUnderAiControl: true }).expect(200)
      expect(flagged.body).toMatchObject({ isUnderAiControl: true, assistantId: ada.id })
      await write(group)
      expect(await due(group)).toBeNull()
    })

    it("does not happen while AI is off, also when it goes off before the reply is due", async () => {
      const chat = await chatWithAda()
      await write(chat)
      await control(chat, false)
      await write(chat, "Anybody?")
      expect(await due(chat)).toBeNull()
      time.pass(7_000)
      await w.runDue()
      expect(await said(chat)).toEqual(["Customer: Hello", "Customer: Anybody?"])
    })

    it("does not happen without an assistant, also when it is unassigned before the reply is due", async () => {
      const chat = await chatWithAda()
      await write(chat)
      const { body } = await rest.as(acme.token).patch(`/api/chats/${chat.id}/unassign-assistant`).expect(200)
      expect(body).toMatchObject({ assistantId: null, isUnderAiControl: true })
      await write(chat, "Anybody?")
      time.pass(7_000)
      await w.runDue()
      expect(await said(chat)).toEqual(["Customer: Hello", "Customer: Anybody?"])
      expect(openAi.requests).toHaveLength(0)
    })
  })

  describe("the request to the model", () => {
    it("has the last 10 minutes, to the millisecond, without archived messages", async () => {
      const chat = await acme.chat()
      await write(chat, "Too old")
      time.pass(1)
      await write(chat, "Old enough")
      time.pass(596_000)
      const archived = await write(chat, "Archived")
      await sql("update message set context_id = gen_random_uuid() where id = $1", [archived.id])
      await rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: ada.id }).expect(200)
      await write(chat, "New")
      time.pass(4_000)
      await w.runDue()
      expect(conversationOf(openAi.requests[0]!)).toEqual(["user: <customer>Old enough</customer>\n<customer>New</customer>"])
    })

    it("has the prompt, the knowledge, the messages of people, and the changes of AI control", async () => {
      await acme.makeKnowledge({ assistantId: ada.id, name: "Returns", resourceContent: "Free for 30 days.\n\n  - in the box" })
      const chat = await chatWithAda()
      await write(chat, "Can I talk to someone?")
      await control(chat, false)
      await acme.message({ chatId: chat.id, text: "Here I am" })
      await control(chat, true)
      await write(chat, "Thanks")
      time.pass(4_000)
      await w.runDue()

      const [request] = openAi.requests
      expect(conversationOf(request!)).toEqual([
        "user: <customer>Can I talk to someone?</customer>",
        "assistant: [human colleague] Here I am",
        "user: <customer>Thanks</customer>",
      ])
      const told = systemOf(request!)
      expect(told).toContain("You are Ada of Acme.")
      expect(told).toContain('<item name="Returns">\nFree for 30 days.\n\n  - in the box\n</item>')
      expect(told).not.toContain("Opening hours")
      expect(told).toMatch(/a human colleague took the chat over[\s\S]*the chat was given to you/)
      expect(request!.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(["turnOffAiMode"])
    })

    it("has data of one company: another's knowledge and chats are not in it", async () => {
      const chat = await chatWithAda()
      await write(chat)
      time.pass(4_000)
      await w.runDue()
      expect(JSON.stringify(openAi.requests[0]!.body)).not.toContain("Globex")
    })
  })

  describe("an assistant that changes between turns", () => {
    /** A turn in a new chat: what the model is told, and the names of its tools. */
    async function told() {
      openAi.requests.length = 0
      const chat = await chatWithAda()
      await write(chat)
      time.pass(4_000)
      const statements = await statementsOf(w, () => w.runDue())
      const { tools = [] } = openAi.requests[0]!.body
      return { system: systemOf(openAi.requests[0]!), tools: JSON.stringify(tools), statements }
    }
    const as = () => rest.as(acme.token)

    it("answers the next turn with the change, and is read again only then", async () => {
      await told()
      expect((await told()).statements).toEqual(["claim-turns", "append-answer"])
      await as().patch(`/api/assistants-new/${ada.id}`, { prompt: "You are Ada, since today." }).expect(200)
      expect((await told()).system).toContain("You are Ada, since today.")

      const item = await acme.makeKnowledge({ assistantId: ada.id, name: "Parking", resourceContent: "Behind the house." })
      expect((await told()).system).toContain("Behind the house.")
      await as().patch(`/api/assistant-knowledge-new/${item.id}`, { resourceContent: "In front of the house." }).expect(200)
      expect((await told()).system).toContain("In front of the house.")
      await as().delete(`/api/assistant-knowledge-new/${item.id}`).expect(200)
      expect((await told()).system).not.toContain("the house.")

      const tool = await acme.tool({ assistantId: ada.id, name: "look_up" })
      expect((await told()).tools).toContain("look_up")
      await as().patch(`/api/assistant-tools-new/${tool.id}`, { description: "Finds an order." }).expect(200)
      expect((await told()).tools).toContain("Finds an order.")
      await as().patch(`/api/assistant-tools-new/${tool.id}`, { disabled: true }).expect(200)
      expect((await told()).tools).not.toContain("look_up")

      const tag = await acme.tag({ name: "Urgent" })
      expect((await told()).tools).toContain("Urgent")
      await as().delete(`/api/chat-tags/${tag.id}`).expect(200)
      expect((await told()).tools).not.toContain("Urgent")
      expect((await told()).statements).toEqual(["claim-turns", "append-answer"])
    })
  })

  it("shows who answered in GraphQL and REST", async () => {
    const chat = await chatWithAda()
    await write(chat)
    time.pass(4_000)
    await w.runDue()
    const { data } = await gql(acme.token, "query ($id: UUID!) { messages(chatId: $id) { nodes { role status text } } }", { id: chat.id })
    expect(data.messages.nodes[0]).toEqual({ role: "ASSISTANT", status: "SENT", text: "An answer" })
  })
})

describe("the job scheduler", () => {
  const w = world({ REPLY_DEBOUNCE_MS: "50", REPLY_MAX_WAIT_MS: "100" })

  it("starts the turn at its due time, which costs the job store nothing", async () => {
    const chat = await w.acme.chat({ assistantId: w.acme.assistant.id })
    const heard = await subscribe(w, w.acme.token, { chatId: chat.id, types: ["MESSAGE_CREATED"] })
    await w.acme.message({ chatId: chat.id, text: "When are you open?", role: "Customer" })
    const [, answer] = await heard.take(2)
    await heard.stop()
    expect(answer!.payload).toMatchObject({ role: "Assistant", text: expect.stringContaining("9:00") })
    expect((await storedJobs(w)).filter(({ name, repeatInterval }) => !name.endsWith("-sweep") && !repeatInterval)).toEqual([])
  })
})
