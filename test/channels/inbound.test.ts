import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { Chat } from "../../src/entities/chat.js"
import { type ScheduledJob, takeEffects } from "../../src/entities/kit/row.js"
import { appendInboundAtOnce } from "../../src/messages/inbound.js"
import { combined } from "../kit/combined.js"
import { promised } from "../kit/promise.js"
import { statementsOf } from "../kit/statements.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w
const time = stillTime()
const timing = { replyDebounceMs: 4_000, replyMaxWaitMs: 7_000, autoResumeAfterMs: 600_000, contextWindowMs: 600_000 }

beforeAll(() => stopScheduler(w))

const at = (ms: number | null) => (ms === null ? null : new Date(time.now() + ms))

/** What decides about the reply to a message: times in milliseconds from now. */
interface State {
  isUnderAiControl: boolean
  hasAssistant: boolean
  chatType: "private" | "group"
  firstAt: number | null
  dueAt: number | null
  turn: null | "restartable" | "final"
  failures: number
  quietSince: number | null
}

const states = combined<State>({
  isUnderAiControl: [true, false],
  hasAssistant: [true, false],
  chatType: ["private", "group"],
  firstAt: [null, 0, -2_000, -6_000, -20_000],
  dueAt: [null, -500, 1_000, 20_000],
  turn: [null, "restartable", "final"],
  failures: [0, 2],
  quietSince: [null, -1_000],
})

/** The chat in such a state. */
function chatIn(state: State) {
  const chat = Object.assign(new Chat(), { companyId: acme.id, messenger: "widget", fromId: acme.widget.externalId, externalId: v7() })
  const { isUnderAiControl, chatType } = state
  const [runId, leaseUntil, turnFirstAt] = state.turn ? [v7(), at(30_000), at(-9_000)] : [null, null, null]
  Object.assign(chat.turn, { dueAt: at(state.dueAt), runId, leaseUntil, failures: state.failures })
  return Object.assign(chat, {
    isUnderAiControl,
    chatType,
    assistantId: state.hasAssistant ? acme.assistant.id : null,
    replyFirstAt: at(state.firstAt),
    turnFirstAt,
    turnIsFinal: state.turn === "final",
    quietSince: at(state.quietSince),
  })
}

const turnOf = ({ replyFirstAt, turnFirstAt, turnIsFinal, turn }: Chat) => {
  const { dueAt, runId, leaseUntil, failures } = turn
  return { replyFirstAt, turnFirstAt, turnIsFinal, dueAt, runId, leaseUntil, failures }
}

it("the statement of a customer's message does what the chat's rules say, in every state that it takes", async () => {
  const chats = states.map((state) => ({ state, chat: chatIn(state) }))
  const context = systemContext(w.services, acme.id)
  await context.transaction(async (tx) => void tx.em.persist(chats.map(({ chat }) => chat)))
  const scheduled: ScheduledJob[] = []
  const schedule = jest.spyOn(w.services.scheduler, "schedule").mockImplementation(async (job) => void scheduled.push(job))
  const stored: boolean[] = []
  for (let begin = 0; begin < chats.length; begin += 40) {
    const some = chats.slice(begin, begin + 40)
    const appended = some.map(({ chat }) => appendInboundAtOnce(context, { chatId: chat.id, type: "Text", text: "Hello" }, timing))
    stored.push(...(await Promise.all(appended)).map((message) => message !== null))
  }
  schedule.mockRestore()
  const rows = await context.transaction(({ em }) => em.find(Chat, { id: { $in: chats.map(({ chat }) => chat.id) } }))
  const found = new Map(rows.map((row) => [row.id, row]))
  const jobs: ScheduledJob[] = []
  for (const [index, { state, chat }] of chats.entries()) {
    const restarts = state.turn === "restartable" && chat.isAnsweredByAi
    const expected = { state, isStored: state.quietSince === null && !restarts }
    takeEffects(chat)
    if (expected.isStored) chat.expectReply(new Date(time.now()), timing)
    jobs.push(...(takeEffects(chat)?.jobs ?? []))
    const row = found.get(chat.id)!
    expect({ state, isStored: stored[index], ...turnOf(row), unread: row.unreadCount }).toEqual({
      ...expected,
      ...turnOf(chat),
      unread: expected.isStored ? 1 : 0,
    })
  }
  const byChat = (list: ScheduledJob[]) => list.toSorted((one, other) => one.id.localeCompare(other.id))
  expect(byChat(scheduled)).toEqual(byChat(jobs))
  expect([states.length, stored.filter(Boolean).length, jobs.length]).toEqual([1920, 920, 80])
})

describe("a known visitor's message", () => {
  const visit = (body: object, on: { id: string } = acme.widget) => rest.anonymous.post(`/hooks/widget/${on.id}`, body)
  const begin = async () => (await visit({ text: "Hello" }).expect(201)).body

  it("is one statement", async () => {
    const { chatId, visitorToken } = await begin()
    expect(await statementsOf(w, () => visit({ text: "And again", messageId: v7(), visitorToken }).expect(201))).toEqual([
      "append-from-widget",
    ])
    expect(await sql("select text from message where chat_id = $1 order by sequence", [chatId])).toEqual([
      { text: "Hello" },
      { text: "And again" },
    ])
  })

  promised("is stored once, however often and wherever it arrives at the same time", async () => {
    const { chatId, visitorToken } = await begin()
    const body = { text: "Only once", messageId: v7(), visitorToken }
    const second = await w.another()
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const url = `${[w, second][index % 2]!.url}/hooks/widget/${acme.widget.id}`
        const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
        return { status: answer.status, ...((await answer.json()) as { chatId: string; messageId: string }) }
      }),
    )
    const different = [...new Set(answers.map(({ status, chatId: chat, messageId }) => `${status} ${chat} ${messageId}`))]
    expect(different).toEqual([expect.stringContaining(`201 ${chatId}`)])
    const [{ count, unread, last }] = await sql(
      `select count(*)::integer, min(unread_count) as unread, min(last_sequence) as last
       from message m join chat c on c.id = m.chat_id where c.id = $1`,
      [chatId],
    )
    expect({ count, unread, last }).toEqual({ count: 2, unread: 2, last: 2 })
  })

  promised("is not stored over another connection, an inactive one or one of another company", async () => {
    const { chatId, visitorToken } = await begin()
    await visit({ text: "Over theirs", visitorToken }, w.globex.widget).expect(401)
    await sql("update channel set is_active = false where id = $1", [acme.widget.id])
    await visit({ text: "Over none", visitorToken }).expect(404)
    await sql("update channel set is_active = true where id = $1", [acme.widget.id])
    await visit({ text: "Over nothing", visitorToken }, { id: v7() }).expect(404)
    await visit({ text: "Over a word", visitorToken }, { id: "widget" }).expect(404)
    expect(await sql("select text from message where chat_id = $1", [chatId])).toEqual([{ text: "Hello" }])
  })

  it("names the customer once", async () => {
    const { chatId, visitorToken } = await begin()
    const name = async () => (await sql("select name from chat where id = $1", [chatId]))[0].name
    await visit({ text: "I am", name: " Ada ", visitorToken }).expect(201)
    expect(await name()).toBe("Ada")
    await visit({ text: "I was", name: "Bea", visitorToken }).expect(201)
    expect(await name()).toBe("Ada")
  })
})
