import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { chatViews, conversationOf, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"
import { guardrails } from "./kit.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest } = w
const { write, look, said } = chatViews(w)
const { guarded, hitsOf, messagesOf } = guardrails(w)
const time = stillTime()
const card = "4111 1111 1111 1111"
const sentence = "Please do not send card numbers."

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  openAi.requests.length = 0
  openAi.reply = async () => ({ text: "Thank you." })
})

async function chatOf(assistant: { id: string }) {
  return acme.chat({ assistantId: assistant.id })
}

async function say(chat: { id: string }, ...texts: string[]) {
  for (const text of texts) await write(chat, text)
  time.pass(8_000)
  await w.runDue()
}

/** All that the model was sent. */
const sent = () => JSON.stringify(openAi.requests.map(({ body }) => body))

describe("a customer's message that a guardrail stops", () => {
  promised("is stored as it is, is not given to the model, and is answered with the sentence", async () => {
    const chat = await chatOf(await guarded({ card: { customer: "block" }, sentence }))
    await say(chat, `My card is ${card}, is it fine?`)
    expect(openAi.requests).toEqual([])
    expect(await said(chat)).toEqual([`Customer: My card is ${card}, is it fine?`, `Assistant: ${sentence}`])
    const [message] = await messagesOf(chat)
    expect(await hitsOf(chat)).toEqual([
      expect.objectContaining({
        rule: "card",
        direction: "customer",
        action: "block",
        messageId: message.id,
        excerpt: "My card is ••••, is it fine?",
      }),
    ])
    await say(chat, "And now?")
    expect(await said(chat)).toHaveLength(4)
    expect(conversationOf(openAi.requests[0]!)).toEqual([
      "user: <customer>••••</customer>",
      `assistant: ${sentence}`,
      "user: <customer>And now?</customer>",
    ])
    expect(await hitsOf(chat)).toHaveLength(1)
  })

  promised("hands the chat over, and stops the rest of its burst", async () => {
    const chat = await chatOf(
      await guarded({ words: { customer: "block", words: ["lawyer"] }, onBlock: "hand_off" }, { handOffMessage: "Wait." }),
    )
    await say(chat, "Hello", "I call my LAWYER", "now")
    expect(openAi.requests).toEqual([])
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto" })
    expect((await said(chat)).at(-1)).toBe("Assistant: Wait.")
    const messages = await messagesOf(chat)
    expect(await hitsOf(chat)).toMatchObject([{ rule: "words", reason: "word:1", messageId: messages[1].id }])
  })

  it("is too long", async () => {
    const chat = await chatOf(await guarded({ length: { customer: "block", customerMax: 10 }, sentence }))
    await say(chat, "12345678901")
    expect((await said(chat)).at(-1)).toBe(`Assistant: ${sentence}`)
    expect(await hitsOf(chat)).toMatchObject([{ rule: "length", reason: "too_long", excerpt: "12345678901" }])
  })
})

describe("a customer's message in which personal data is replaced", () => {
  promised("is stored as it is, and read without it, also later and for arguments of tools", async () => {
    const endpoint = await receiver()
    const ada = await guarded({ card: { customer: "mask" }, email: { customer: "mask" } })
    await acme.tool({
      assistantId: ada.id,
      name: "look_up",
      apiCallUrl: endpoint.url,
      params: { type: "object", properties: { text: { type: "string" } } },
    })
    const chat = await chatOf(ada)
    openAi.reply = async ({ body }) => {
      const last = body.messages.at(-1)
      return last.role === "tool" ? { text: "Found." } : { toolCalls: [{ name: "look_up", arguments: { text: last.content } }] }
    }
    await say(chat, `My card is ${card}, mail ann@lee.example`)
    await say(chat, "And what was my card?")
    expect((await said(chat))[0]).toBe(`Customer: My card is ${card}, mail ann@lee.example`)
    expect(sent()).toContain("My card is ••••, mail ••••")
    expect(sent()).not.toMatch(/4111|ann@lee/)
    expect(JSON.stringify(endpoint.requests.map(({ body }) => body))).not.toMatch(/4111|ann@lee/)
    const frames = (await messagesOf(chat)).filter(({ type }: { type: string }) => type.startsWith("FunctionCall"))
    expect(JSON.stringify(frames)).not.toMatch(/4111|ann@lee/)
    expect((await hitsOf(chat)).map(({ rule }) => rule).sort()).toEqual(["card", "email"])
    await endpoint.close()
  })
})

it("a rule that only records changes nothing", async () => {
  const chat = await chatOf(await guarded({ card: { customer: "log" } }))
  await say(chat, `Card ${card}`)
  expect(conversationOf(openAi.requests[0]!)).toEqual([`user: <customer>Card ${card}</customer>`])
  expect((await said(chat)).at(-1)).toBe("Assistant: Thank you.")
  expect(await hitsOf(chat)).toMatchObject([{ action: "log", excerpt: "Card ••••" }])
})

promised("hits of a burst are recorded once, also of a message that came while the turn before it ran", async () => {
  const ada = await guarded({ email: { customer: "log" } })
  const chat = await chatOf(ada)
  let isFirst = true
  openAi.reply = async () => {
    if (isFirst) {
      isFirst = false
      // Restarts the turn, which then answers both.
      await write(chat, "and b@lee.example")
      return { text: "Too early" }
    }
    if (openAi.requests.length === 2) await write(chat, "and c@lee.example")
    return { text: "Thank you." }
  }
  await say(chat, "Mail a@lee.example")
  await say(chat)
  await say(chat)
  const messages = await messagesOf(chat)
  const ids = messages.filter(({ role }: { role: string }) => role === "Customer").map(({ id }: { id: string }) => id)
  expect(ids).toHaveLength(3)
  expect((await hitsOf(chat)).map(({ messageId }) => messageId)).toEqual(ids)
})

it("messages of people are not judged", async () => {
  const chat = await chatOf(await guarded({ card: { customer: "block", answer: "block" }, sentence }))
  await acme.message({ chatId: chat.id, text: `Our card is ${card}` })
  await say(chat, "Thanks")
  expect((await said(chat)).at(-1)).toBe("Assistant: Thank you.")
  expect(await hitsOf(chat)).toEqual([])
  expect((await rest.as(acme.token).get("/api/guardrail-hits").expect(200)).body.totalCount).toBeGreaterThan(0)
})
