import { v7 } from "uuid"
import { storeAnswerAtOnce } from "../../src/assistant/answer.js"
import { type ClaimedTurn, claimTurns } from "../../src/assistant/claim.js"
import { open, record } from "../../src/assistant/tool-log.js"
import { openAtOnce, recordAtOnce } from "../../src/assistant/tool-statements.js"
import { Usage } from "../../src/assistant/usage.js"
import { systemContext } from "../../src/context/request-context.js"
import { AssistantTurn } from "../../src/entities/assistant-turn.js"
import { Chat } from "../../src/entities/chat.js"
import { entityLimits } from "../../src/entities/limits.js"
import { ToolCall, type ToolOutcome } from "../../src/entities/tool-call.js"
import { reply } from "../../src/jobs/reply.js"
import { combined } from "../kit/combined.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, sql } = w
const time = stillTime()

beforeAll(() => stopScheduler(w))

const at = (ms: number | null) => (ms === null ? null : new Date(time.now() + ms))
const now = () => new Date(time.now())
const context = () => systemContext(w.services, acme.id)

/** What decides about a turn: times in milliseconds from now. */
interface State {
  isUnderAiControl: boolean
  hasAssistant: boolean
  chatType: "private" | "group"
  firstAt: number | null
  dueAt: number | null
  turn: null | "running" | "expired"
  turnFirstAt: number | null
  failures: number
  openCalls: string[]
}

const states = combined<State>({
  isUnderAiControl: [true, false],
  hasAssistant: [true, false],
  chatType: ["private", "group"],
  firstAt: [null, -6_000],
  dueAt: [null, -500, 0, 1_000],
  turn: [null, "running", "expired"],
  turnFirstAt: [null, -9_000],
  failures: [0, 2],
  openCalls: [[], [v7()]],
})

/** The chat in such a state. */
function chatIn(state: State) {
  const chat = Object.assign(new Chat(), { companyId: acme.id, messenger: "widget", fromId: acme.widget.externalId, externalId: v7() })
  const { isUnderAiControl, chatType, failures, openCalls } = state
  const leaseUntil = { running: at(1), expired: at(0) }
  Object.assign(chat.turn, { dueAt: at(state.dueAt), failures })
  if (state.turn) Object.assign(chat.turn, { runId: v7(), leaseUntil: leaseUntil[state.turn] })
  const own = { replyFirstAt: at(state.firstAt), turnFirstAt: at(state.turnFirstAt), turnIsFinal: true, turnRounds: 3 }
  return Object.assign(chat, { isUnderAiControl, chatType, openCalls, ...own, assistantId: state.hasAssistant ? acme.assistant.id : null })
}

const turnOf = ({ replyFirstAt, turnFirstAt, turnIsFinal, turnRounds, openCalls, turn }: Chat) => {
  const { dueAt, runId, leaseUntil, failures } = turn
  return { replyFirstAt, turnFirstAt, turnIsFinal, turnRounds, openCalls, dueAt, runId, leaseUntil, failures }
}

async function stored(chats: Chat[]) {
  await context().transaction(async ({ em }) => void em.persist(chats))
  return async () => {
    const rows = await context().transaction(({ em }) => em.find(Chat, { id: { $in: chats.map(({ id }) => id) } }))
    const found = new Map(rows.map((row) => [row.id, row]))
    return chats.map(({ id }) => found.get(id)!)
  }
}

it("the statement that claims turns does what the chat's rules say, in every state that it takes", async () => {
  const cases = states.map((state) => ({ state, chat: chatIn(state), runId: v7() }))
  const rows = await stored(cases.map(({ chat }) => chat))
  const { claimed, left } = await claimTurns(
    w.services,
    cases.map(({ chat, runId }) => ({ id: chat.id, companyId: acme.id, runId })),
  )
  for (const [index, row] of (await rows()).entries()) {
    const { state, chat, runId } = cases[index]!
    const isDue = chat.turn.isDue(now())
    const isUsual = isDue && chat.isAnsweredByAi && state.turn === null && state.turnFirstAt === null && state.openCalls.length === 0
    if (isUsual) {
      chat.beginTurn(now())
      chat.turn.begin(runId, now(), entityLimits.turnLeaseMs)
    }
    const seen = { isClaimed: claimed.get(runId)?.chatId === chat.id, isLeft: left.has(chat.id), ...turnOf(row) }
    expect({ state, ...seen }).toEqual({ state, isClaimed: isUsual, isLeft: isDue && !isUsual, ...turnOf(chat) })
  }
  expect([states.length, claimed.size, left.size]).toEqual([1536, 8, 760])
  const turns = await sql("select count(*)::integer as count from assistant_turn where id = any($1)", [cases.map(({ runId }) => runId)])
  expect(turns).toEqual([{ count: 8 }])
})

promised("a chat that a job and a sweep start at the same time gets one turn, which one of them runs", async () => {
  const openAi = await startFakeOpenAi()
  // What other tests left due is nothing to start.
  await sql("update chat set reply_due_at = null, turn_id = null, turn_lease_until = null")
  const server = await w.another({ OPENAI_BASE_URL: openAi.url })
  await stopScheduler(server)
  const due = { isUnderAiControl: true, hasAssistant: true, chatType: "private", firstAt: 0, dueAt: 0, turn: null } as const
  const chats = Array.from({ length: 5 }, () => chatIn({ ...due, turnFirstAt: null, failures: 0, openCalls: [] }))
  await stored(chats)
  // The fake model answers instead of the offline one.
  await sql("update assistant set text_model_id = $2 where id = $1", [acme.assistant.id, server.services.models[0]!.id])
  const twice = [...chats, ...chats].map(({ id }) => ({ id, companyId: acme.id }))
  await Promise.all(twice.map(({ id }) => reply.run(server.services, acme.id, id)))
  await server.services.running.idle()
  expect(openAi.requests).toHaveLength(chats.length)
  const turns = await sql("select chat_id from assistant_turn where chat_id = any($1)", [chats.map(({ id }) => id)])
  expect(turns).toHaveLength(chats.length)
  await server.stop()
  await openAi.close()
})

promised("the statement claims nothing of another company, of one without a subscription, or of a chat that is locked", async () => {
  const due = { isUnderAiControl: true, hasAssistant: true, chatType: "private", firstAt: 0, dueAt: 0, turn: null } as const
  const chat = chatIn({ ...due, turnFirstAt: null, failures: 0, openCalls: [] })
  await stored([chat])
  const claim = (companyId = acme.id) => claimTurns(w.services, [{ id: chat.id, companyId, runId: v7() }])
  const none = { claimed: new Map(), left: new Set([chat.id]) }
  expect(await claim(w.globex.id)).toEqual({ claimed: new Map(), left: new Set() })
  await sql("update subscription set ends_at = $1 where company_id = $2", [now(), acme.id])
  expect(await claim()).toEqual(none)
  await sql("update subscription set ends_at = null, status = 'canceled' where company_id = $1", [acme.id])
  expect(await claim()).toEqual(none)
  await sql("update subscription set status = 'trialing' where company_id = $1", [acme.id])
  await context().transaction(async (tx) => {
    await tx.find(Chat, chat.id)
    expect(await claim()).toEqual(none)
  })
  expect((await claim()).claimed.size).toBe(1)
})

it("the statement that stores an answer ends the turn as the chat's rules say, in every state that it takes", async () => {
  const cases = states.map((state) => ({ state, chat: chatIn(state) })).filter(({ state }) => state.turn === "running")
  const rows = await stored(cases.map(({ chat }) => chat))
  await context().transaction(async ({ em }) => {
    for (const { chat } of cases) {
      const { companyId, id: chatId } = chat
      em.persist(
        Object.assign(new AssistantTurn(), { id: chat.turn.runId!, companyId, chatId, assistantId: acme.assistant.id, model: "one" }),
      )
    }
  })
  const conclusion = { text: "An answer", handOver: null, sources: [], isStopped: false, findings: [] }
  const store = async ({ chat }: { chat: Chat }) => {
    const turn = { id: chat.turn.runId!, chatId: chat.id, usage: new Usage() } as ClaimedTurn
    const tries = [{ ...turn, id: v7() }, turn, turn].map((each) => storeAnswerAtOnce(context(), each, conclusion))
    return Promise.all(tries)
  }
  const tried: boolean[][] = []
  for (let begin = 0; begin < cases.length; begin += 20) tried.push(...(await Promise.all(cases.slice(begin, begin + 20).map(store))))
  // Not by another turn, and once.
  const isStored = tried.map(([byAnother, ...own]) => (byAnother || own.every(Boolean) ? "wrongly" : own.some(Boolean)))
  const turnIds = cases.map(({ chat }) => chat.turn.runId!)
  for (const [index, row] of (await rows()).entries()) {
    const { state, chat } = cases[index]!
    const isUsual = chat.holdsTurn(chat.turn.runId!) && state.openCalls.length === 0
    if (isUsual) chat.endTurn()
    expect({ state, isStored: isStored[index], messages: row.lastSequence, ...turnOf(row) }).toEqual({
      state,
      isStored: isUsual,
      messages: isUsual ? 1 : 0,
      ...turnOf(chat),
    })
  }
  const ended = await sql("select count(*)::integer as count from assistant_turn where outcome = 'answered' and id = any($1)", [turnIds])
  expect([cases.length, isStored.filter(Boolean).length, ended]).toEqual([512, 32, [{ count: 32 }]])
})

describe("a tool call", () => {
  const outcomes: ToolOutcome[] = [
    { success: true, status: 200, latencyMs: 12, body: { ok: "yes" }, error: null },
    { success: false, status: 503, latencyMs: 7, body: "down", error: "The endpoint answered with status 503" },
    { success: false, status: null, latencyMs: 0, body: null, error: "No answer" },
  ]
  const running = { isUnderAiControl: true, hasAssistant: true, chatType: "private", firstAt: null, dueAt: null, turn: "running" } as const
  const asked = { callId: "model-1", name: "look_up", arguments: { order: "7" } }

  async function begun() {
    const chat = chatIn({ ...running, turnFirstAt: -9_000, failures: 0, openCalls: [] })
    await stored([chat])
    const { id } = await acme.tool({ assistantId: acme.assistant.id, name: `look_up_${v7().slice(-8)}` })
    const tool = {
      id,
      type: "webhook_action",
      isSystem: false,
      declaration: { name: asked.name, description: "", parameters: {} },
    } as const
    return { chat, tool, turn: { id: chat.turn.runId!, chatId: chat.id, round: 2 } }
  }

  const rowsOf = async (chat: Chat) => ({
    chat: await sql(
      "select turn_is_final, turn_rounds, jsonb_array_length(open_calls) as open, last_sequence, unread_count from chat where id = $1",
      [chat.id],
    ),
    messages: await sql(
      "select sequence, role, type, text, status, function_call - 'callId' as call, function_call_output - 'callId' as output from message where chat_id = $1 order by sequence",
      [chat.id],
    ),
    calls: await sql(
      "select turn_id = $2 as own, params, response, response_status, success, status, latency_ms, error, created_at from tool_call where chat_id = $1",
      [chat.id, chat.turn.runId],
    ),
    events: await sql("select type, payload -> 'message' ->> 'sequence' as sequence from event where chat_id = $1 order by id", [chat.id]),
  })

  it.each(outcomes)("is stored the same by statements and by transactions: $error", async (outcome) => {
    const [one, other] = [await begun(), await begun()]
    const opened = await openAtOnce(context(), one.turn, one.tool, asked)
    const call = await context().transaction(async ({ unit }) => {
      const chat = await unit.em.findOneOrFail(Chat, { id: other.chat.id })
      return open(unit, chat, other.turn, other.tool.id, asked)
    })
    const { success } = outcome
    expect(await rowsOf(one.chat)).toEqual(await rowsOf(other.chat))
    expect((await rowsOf(one.chat)).calls).toHaveLength(1)
    expect(opened!.row).toMatchObject({ id: one.tool.id, companyId: acme.id, type: "webhook_action", assistantId: acme.assistant.id })
    expect(await recordAtOnce(context(), one.turn, opened!.call, outcome, { success })).toEqual({ holds: true })
    await context().transaction(async ({ unit }) => {
      const chat = await unit.em.findOneOrFail(Chat, { id: other.chat.id })
      await record(unit, chat, await unit.em.findOneOrFail(ToolCall, { id: call.id }), outcome, { success })
    })
    expect(await rowsOf(one.chat)).toEqual(await rowsOf(other.chat))
    expect((await rowsOf(one.chat)).messages).toHaveLength(2)
    expect(await recordAtOnce(context(), one.turn, opened!.call, outcome, { success })).toBeNull()
  })

  promised("is not stored for a lost turn, nor for a tool that is switched off or of another company", async () => {
    const { chat, tool, turn } = await begun()
    expect(await openAtOnce(context(), { ...turn, id: v7() }, tool, asked)).toBeNull()
    expect(await openAtOnce(systemContext(w.services, w.globex.id), turn, tool, asked)).toBeNull()
    await sql("update assistant_tool set disabled = true where id = $1", [tool.id])
    expect(await openAtOnce(context(), turn, tool, asked)).toBeNull()
    expect(await rowsOf(chat)).toMatchObject({ messages: [], calls: [], events: [] })
  })

  promised("whose turn was taken over keeps its outcome in the log, and is told that the turn is lost", async () => {
    const { chat, tool, turn } = await begun()
    const opened = await openAtOnce(context(), turn, tool, asked)
    await sql("update chat set turn_id = null where id = $1", [chat.id])
    expect(await recordAtOnce(context(), turn, opened!.call, outcomes[0]!, {})).toEqual({ holds: false })
    expect((await rowsOf(chat)).calls).toMatchObject([{ status: "success", response: { ok: "yes" } }])
  })
})
