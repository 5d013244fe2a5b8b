import { entityLimits } from "../../src/entities/limits.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { reply } from "../../src/jobs/reply.js"
import { retention } from "../../src/jobs/retention.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { chatViews, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url, OPENAI_MODEL: "fake" })
const { acme, gql, rest, sql } = w
const { write, control, due } = chatViews(w)
const time = stillTime()
let ada: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
})

/** A chat whose reply is due. */
async function chatToAnswer() {
  const chat = await acme.chat({ assistantId: ada.id })
  await write(chat)
  time.pass(4_000)
  return chat
}

/** Turns of a chat, oldest first, as GraphQL shows them. */
async function turnsOf(chat: { id: string }, fields = "outcome rounds inputTokens outputTokens") {
  const { data, errors } = await gql(acme.token, `query ($id: UUID!) { chat(id: $id) { assistantTurns { ${fields} } } }`, { id: chat.id })
  expect(errors).toBeUndefined()
  return data.chat.assistantTurns.reverse()
}

const outcomes = async (chat: { id: string }) => (await turnsOf(chat, "outcome")).map(({ outcome }: { outcome: string | null }) => outcome)
const tokens = { inputTokens: 11, outputTokens: 7 }

describe("a turn is stored with its cost", () => {
  it("when it answered", async () => {
    openAi.reply = async () => ({ text: "Yes" })
    const chat = await chatToAnswer()
    await w.runDue()
    const all = "id assistantId model rounds inputTokens outputTokens latencyMs outcome startedAt endedAt"
    const [turn, ...others] = await turnsOf(chat, all)
    expect(others).toEqual([])
    const now = new Date(time.now()).toISOString()
    const expected = { assistantId: ada.id, model: "fake", rounds: 1, ...tokens, outcome: "ANSWERED", startedAt: now, endedAt: now }
    expect(turn).toEqual({ ...expected, id: expect.any(String), latencyMs: expect.any(Number) })
    expect(turn.latencyMs).toBeGreaterThan(0)
  })

  it("when it handed the chat over", async () => {
    openAi.reply = async () => ({ toolCalls: [{ name: "turnOffAiMode" }] })
    const chat = await chatToAnswer()
    await w.runDue()
    expect(await turnsOf(chat)).toEqual([{ outcome: "HANDED_OFF", rounds: 1, ...tokens }])
  })

  it("when the model failed, each time", async () => {
    openAi.reply = async () => ({ status: 500 })
    const chat = await chatToAnswer()
    for (let tries = 0; tries < entityLimits.modelTries; tries += 1) {
      await w.runDue()
      time.pass(60_000)
    }
    const failed = { outcome: "FAILED", rounds: 1, inputTokens: null, outputTokens: null }
    expect(await turnsOf(chat)).toEqual([failed, failed, failed, failed])
  })

  it("when it was superseded, taken over, and answered in the end: discarded answers cost too", async () => {
    const model = hold(openAi)
    const chat = await chatToAnswer()
    const first = w.runDue()
    const call = await model.next()
    expect(await turnsOf(chat, "outcome endedAt latencyMs")).toEqual([{ outcome: null, endedAt: null, latencyMs: null }])
    await write(chat, "And another thing")
    expect(await outcomes(chat)).toEqual(["SUPERSEDED"])
    call.answer({ text: "Too early" })
    await first
    time.pass(4_000)
    const second = w.runDue()
    await model.next()
    await control(chat, false)
    await second
    expect(await turnsOf(chat)).toEqual([
      { outcome: "SUPERSEDED", rounds: 1, ...tokens },
      { outcome: "TAKEN_OVER", rounds: 1, inputTokens: null, outputTokens: null },
    ])
    await control(chat, true)
    await write(chat)
    time.pass(4_000)
    const third = w.runDue()
    const last = await model.next()
    last.answer({ text: "Now" })
    await third
    expect(await outcomes(chat)).toEqual(["SUPERSEDED", "TAKEN_OVER", "ANSWERED"])
  })

  it("when its server stopped, or was lost", async () => {
    const model = hold(openAi)
    const [stopped, lost] = [await w.another(), await w.another()]
    for (const server of [stopped, lost]) await stopScheduler(server)
    const chat = await chatToAnswer()
    await reply.sweep.run(stopped.services)
    await model.next()
    await stopped.stop()
    await reply.sweep.run(lost.services)
    const late = await model.next()
    time.pass(entityLimits.turnLeaseMs)
    const done = w.runDue()
    const call = await model.next()
    expect(await outcomes(chat)).toEqual(["RELEASED", "LOST", null])
    late.answer({ text: "Too late" })
    await lost.services.running.idle()
    call.answer({ text: "Here" })
    await done
    expect(await outcomes(chat)).toEqual(["RELEASED", "LOST", "ANSWERED"])
    expect(await due(chat)).toBeNull()
  })
})

it("is shown with its own chat, the newest 100 at most", async () => {
  openAi.reply = async () => ({ text: "Yes" })
  const [one, other] = [await chatToAnswer(), await chatToAnswer()]
  await w.runDue()
  await sql(
    `insert into assistant_turn (id, company_id, chat_id, model, started_at, rounds)
     select gen_random_uuid(), $1, $2, 'old', now() - make_interval(days => n), 100 + n from generate_series(1, 120) n`,
    [acme.id, one.id],
  )
  const { data } = await gql(acme.token, "{ chats(first: 2) { nodes { id assistantTurns { rounds } } } }")
  const shown = new Map(
    data.chats.nodes.map((chat: { id: string; assistantTurns: { rounds: number }[] }) => [chat.id, chat.assistantTurns]),
  )
  expect(shown.get(other.id)).toEqual([{ rounds: 1 }])
  expect((shown.get(one.id) as { rounds: number }[]).map(({ rounds }) => rounds)).toEqual([
    1,
    ...Array.from({ length: 99 }, (_, n) => 101 + n),
  ])
})

it("is deleted after a quarter of a year, and with its chat", async () => {
  openAi.reply = async () => ({ text: "Yes" })
  const chat = await chatToAnswer()
  await w.runDue()
  time.pass(jobLimits.turnRetentionSeconds * 1000)
  await retention.run(w.services)
  expect(await outcomes(chat)).toEqual(["ANSWERED"])
  time.pass(1)
  await write(chat)
  time.pass(4_000)
  await w.runDue()
  await retention.run(w.services)
  expect(await turnsOf(chat, "outcome startedAt")).toEqual([{ outcome: "ANSWERED", startedAt: new Date(time.now()).toISOString() }])
  await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
  expect(await sql("select 1 from assistant_turn where chat_id = $1", [chat.id])).toEqual([])
})
