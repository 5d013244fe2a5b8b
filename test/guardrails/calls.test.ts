import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"
import { guardrails } from "./kit.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql } = w
const { guarded } = guardrails(w)
const card = "4111 1111 1111 1111"
const sentence = "I may not say that."

beforeAll(async () => {
  await acme.subscription("active")
  await acme.voice({ balance: 10, lines: 5 })
})
beforeEach(() => {
  openAi.requests.length = 0
})

/** A call in which the customer says these sentences; returns what was said, and the hits. */
async function called(assistant: { id: string }, says: string) {
  const asked = { phoneNumber: "+380441234567", dynamicVariables: { simulate_says: says } }
  const { workflowId: id } = (await rest.as(acme.token).post(`/api/assistants/${assistant.id}/originate`, asked).expect(200)).body
  await until(
    "the call is reported",
    async () => (await sql("select 1 from call where id = $1 and reported_at is not null", [id])).length > 0,
  )
  const { replies } = (await rest.as(acme.token).get(`/api/calls-history/${id}`).expect(200)).body
  const hits = (await rest.as(acme.token).get(`/api/guardrail-hits?filter=callId:eq:${id}`).expect(200)).body.data
  return { said: replies.map(({ role, text }: { role: string; text: string }) => `${role}: ${text}`), hits }
}

describe("on a call that this server leads", () => {
  promised("a stopped answer is not said; the hit is recorded once", async () => {
    openAi.reply = async ({ body }) => ({ text: /card/.test(body.messages.at(-1).content) ? `It is ${card}.` : "You are welcome." })
    const { said, hits } = await called(await guarded({ card: { answer: "block" }, sentence }), "What is my card?|Thanks, bye.")
    expect(said).toEqual(expect.arrayContaining([`agent: ${sentence}`, "agent: You are welcome."]))
    expect(JSON.stringify(said)).not.toContain("4111")
    expect(hits).toMatchObject([{ rule: "card", direction: "answer", action: "block", chatId: null, messageId: null }])
  })

  promised("the model reads the customer's words without what is replaced, and a hand-off says its message", async () => {
    openAi.reply = async () => ({ text: "Noted." })
    const masks = await called(await guarded({ card: { customer: "mask" } }), `My card is ${card}.|Thanks, bye.`)
    expect(JSON.stringify(openAi.requests.map(({ body }) => body))).not.toContain("4111")
    expect(masks.hits).toHaveLength(1)
    const stops = await guarded(
      { words: { customer: "block", words: ["lawyer"] }, onBlock: "hand_off" },
      { handOffMessage: "We call you back." },
    )
    const { said, hits } = await called(stops, "I call my lawyer.|Thanks, bye.")
    expect(said).toContain("agent: We call you back.")
    expect(hits).toMatchObject([{ rule: "words", direction: "customer" }])
  })
})
