import { type FakeModelReply, startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"
import { guardrails } from "./kit.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url, OPENAI_MODEL: "fake" })
const { acme, sql } = w
const { write, said, due, look } = chatViews(w)
const { guarded, hitsOf } = guardrails(w)
const time = stillTime()
const sentence = "We only talk about lamps."
const outOfScope = "Politics and religion."
let judged: string[] = []

/** What the model says of texts about politics, unless a judgement has to fail. */
let judgement: (text: string) => FakeModelReply

beforeAll(() => stopScheduler(w))
beforeEach(() => {
  openAi.requests.length = 0
  judged = []
  judgement = (text) => ({ text: /election/.test(text) ? "YES" : "no." })
  openAi.reply = async ({ body }) => {
    const [system, question] = body.messages
    if (!system.content.includes(outOfScope)) return { text: "About the election: everybody votes." }
    judged.push(question.content)
    return judgement(question.content)
  }
})

async function chatAsking(assistant: { id: string }, text: string) {
  const chat = await acme.chat({ assistantId: assistant.id })
  await write(chat, text)
  time.pass(4_000)
  await w.runDue()
  return chat
}

describe("what is out of scope", () => {
  promised("is not given to the model that answers", async () => {
    const chat = await chatAsking(await guarded({ scope: { customer: "block", outOfScope }, sentence }), "Who wins the election?")
    expect(judged).toEqual(["<customer>Who wins the election?</customer>"])
    expect(openAi.requests).toHaveLength(1)
    expect((await said(chat)).at(-1)).toBe(`Assistant: ${sentence}`)
    expect(await hitsOf(chat)).toMatchObject([
      { rule: "scope", direction: "customer", action: "block", reason: "out_of_scope", excerpt: "Who wins the election?" },
    ])
    const [turn] = await sql("select rounds, input_tokens from assistant_turn where chat_id = $1", [chat.id])
    expect(turn).toEqual({ rounds: 1, input_tokens: 11 })
  })

  promised("is not said by the model either", async () => {
    const chat = await chatAsking(await guarded({ scope: { answer: "block", outOfScope }, sentence }), "Hello, what is new?")
    expect(judged).toEqual(["<answer>About the election: everybody votes.</answer>"])
    expect((await said(chat)).at(-1)).toBe(`Assistant: ${sentence}`)
    expect(await hitsOf(chat)).toMatchObject([{ rule: "scope", direction: "answer" }])
  })

  it("is not asked about a text that another rule has stopped, and about none where the rule is off", async () => {
    const ada = await guarded({ words: { customer: "block", words: ["stop"] }, scope: { customer: "block", outOfScope }, sentence })
    await chatAsking(ada, "stop")
    expect(openAi.requests).toEqual([])
    await chatAsking(await guarded({ card: { customer: "log" } }), "Who wins the election?")
    expect(judged).toEqual([])
  })

  promised.each<[string, FakeModelReply]>([
    ["fails", { status: 500 }],
    ["says neither yes nor no", { text: "Maybe" }],
  ])("is tried again when the model %s, and then handed to a person", async (_how, reply) => {
    judgement = () => reply
    const chat = await chatAsking(await guarded({ scope: { customer: "block", outOfScope }, sentence }), "Hello there, a question")
    expect(await said(chat)).toHaveLength(1)
    judgement = () => ({ text: "NO" })
    time.pass((await due(chat))! - time.now())
    await w.runDue()
    expect((await said(chat)).at(-1)).toBe("Assistant: About the election: everybody votes.")
    judgement = () => reply
    await write(chat, "One more question please")
    for (let wait = await due(chat); wait !== null; wait = await due(chat)) {
      time.pass(wait - time.now())
      await w.runDue()
    }
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto" })
    expect(await hitsOf(chat)).toEqual([])
  })
})
