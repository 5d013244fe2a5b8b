import { startFakeOpenAi } from "../kit/fake-openai.js"
import { plainStretches } from "../kit/plain-stretches.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"
import { Histories } from "./histories.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

/** More with `STRETCH_HISTORIES`; in batches, because the time between the steps is that of all chats of a batch. */
const histories = Number(process.env["STRETCH_HISTORIES"] ?? 100)
const batch = 100

/** How often histories are played until a mutant shows; most do at once. */
const rounds = 10

/** Statements of the triggers without which a fact is forgotten; each names the fact. */
const mutants: [fact: string, name: string, from: string, to: string][] = [
  ["answers of people", "stretch_gets_message", "user_messages = user_messages + 1", "user_messages = user_messages"],
  ["the wait for a person after a hand-off", "stretch_gets_message", "least(waiting_since, person_due_since)", "waiting_since"],
  ["the first hand-off", "note_control", "coalesce(handed_off_at, at)", "at"],
  ["the return", "note_control", "coalesce(returned_at, at)", "returned_at"],
  ["quiet hours", "stretch_gets_message", "and last_message_at + stretch_quiet() > new.created_at", ""],
  ["that it was reopened", "stretch_gets_message", "reopened = true", "reopened = reopened"],
  ["failed tool calls", "note_call", "tool_failures + failures", "tool_failures"],
  ["tokens", "note_tokens", "input_tokens + input", "input_tokens"],
]

describe("stretches of random histories, on two servers", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme } = w
  stillTime()
  let played: Histories

  beforeAll(async () => {
    const other = await w.another()
    for (const { services } of [w, other]) await stopScheduler({ services })
    const assistant = await acme.makeAssistant({ name: "Ada", prompt: "You are Ada.", handOffMessage: "A colleague will answer." })
    const guardrails = { words: { answer: "block", words: ["forbidden"] }, onBlock: "hand_off" }
    await w.rest.as(acme.token).put(`/api/assistants/${assistant.id}/guardrails`, guardrails).expect(200)
    const tool = await acme.tool({ assistantId: assistant.id, name: "nobody_listens" })
    const item = {
      assistantId: assistant.id,
      name: "Returns",
      kind: "text",
      isVector: true,
      resourceContent: "Returns are free for 30 days.",
    }
    await acme.makeKnowledge(item)
    const { indexKnowledge } = await import("../../src/jobs/index-knowledge.js")
    await indexKnowledge.sweep.run(w.services)
    await w.services.running.idle()
    await w.sql("update company set embedding_credits = 1000000000")
    played = new Histories(w, [w, other], assistant, openAi, tool)
  })

  it("are those that a plain reading of all messages gives", async () => {
    for (let begun = 0; begun < histories; begun += batch) {
      const differing = await played.play(Math.min(batch, histories - begun), begun + 1)
      expect(differing.slice(0, 3)).toEqual([])
    }
  })

  it.each(mutants)("differ when the database forgets %s", async (_fact, name, from, to) => {
    const [{ definition }] = await w.sql("select pg_get_functiondef(oid) as definition from pg_proc where proname = $1", [name])
    expect(definition).toContain(from)
    await w.sql(definition.replace(from, to))
    try {
      let differing: string[] = []
      for (let round = 0; differing.length === 0 && round < rounds; round++) differing = await played.play(40, 7 + round)
      expect(differing).not.toEqual([])
    } finally {
      await w.sql(definition)
    }
  })
})

it("the plain reading places a return by a customer's message before a person's answer within the same millisecond", () => {
  const hour = 60 * 60 * 1_000
  const message = (id: string, at: number, sequence: number, role: string) => ({ id, at, sequence, role, authorId: null })
  const system = { userId: null, bySystem: true }
  const [stretch] = plainStretches(
    {
      ...{ assistantId: null, beganWithAi: true, calls: [], turns: [], ends: [] },
      messages: [
        message("first", 0, 1, "Customer"),
        message("answered", 0.25 * hour, 2, "Assistant"),
        message("waiting", 1 * hour, 3, "Customer"),
        message("returns", 5 * hour, 4, "Customer"),
        message("answers", 5 * hour, 5, "User"),
      ],
      controls: [
        { at: 0.5 * hour, isOn: false, why: "guardrail", ...system },
        { at: 5 * hour, isOn: true, why: null, ...system },
      ],
    },
    24,
    6 * hour,
  )
  // Since the customer's unanswered message, and not since the hand-off, which the return has ended.
  expect(stretch).toMatchObject({ returnedAt: 5 * hour, handedOffAt: 0.5 * hour, peopleAnswers: [4 * hour] })
})
