import { v7 } from "uuid"
import { RequestContext } from "../../src/context/request-context.js"
import type { Statement } from "../../src/database/unit-of-work.js"
import type { ScheduledJob } from "../../src/entities/kit/row.js"
import { promised } from "../kit/promise.js"
import { statementsOf } from "../kit/statements.js"
import { openTransaction } from "../kit/transaction.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w
// The clock stands still, so that times are compared too.
stillTime()

beforeAll(() => stopScheduler(w))

/** A further widget of Acme, with an assistant. */
async function widget(assistantId: string | null): Promise<string> {
  const id = v7()
  await sql(
    `insert into channel (id, created_at, updated_at, company_id, messenger, external_id, name, assistant_id)
     values ($1, now(), now(), $2, 'widget', $3, 'Another site', $4)`,
    [id, acme.id, `site-${id}`, assistantId],
  )
  return id
}

const visit = async (connection: string, body: object) => (await rest.anonymous.post(`/hooks/widget/${connection}`, body).expect(201)).body

/** Does something before each statement that stores a first message, or instead of it; returns how many rows these returned. */
async function aroundOpening(instead: () => Promise<"go on" | "refuse">, work: () => Promise<unknown>): Promise<number[]> {
  const { statement } = RequestContext.prototype
  const returned: number[] = []
  const spy = jest.spyOn(RequestContext.prototype, "statement").mockImplementation(async function (
    this: RequestContext,
    one: Statement,
    values: unknown[],
  ) {
    if (one.name !== "open-inbound") return statement.call(this, one, values)
    const rows = (await instead()) === "refuse" ? [] : await statement.call(this, one, values)
    returned.push(rows.length)
    return rows
  } as typeof statement)
  await work().finally(() => spy.mockRestore())
  return returned
}

/** All that a first message leaves, with names instead of random IDs, and with times as numbers. */
async function leftBy(connection: string, body: object) {
  const jobs: ScheduledJob[] = []
  const schedule = jest.spyOn(w.services.scheduler, "schedule").mockImplementation(async (job) => void jobs.push(job))
  const { chatId, messageId } = await visit(connection, body)
  schedule.mockRestore()
  const [chat] = await sql("select * from chat where id = $1", [chatId])
  const left = {
    chat,
    messages: await sql("select * from message where chat_id = $1", [chatId]),
    events: await sql("select type, company_id, chat_id, payload, created_at from event where chat_id = $1 order by id", [chatId]),
    changes: await sql("select * from control_change where chat_id = $1", [chatId]),
    turns: await sql("select * from assistant_turn where chat_id = $1", [chatId]),
    jobs,
  }
  const named = JSON.stringify(left).replaceAll(chatId, "the chat").replaceAll(messageId, "the message")
  return JSON.parse(named.replaceAll(chat.external_id, "the visitor"), (_key, value) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value) ? Date.parse(value) : value,
  )
}

const assistants: Record<string, () => Promise<string | null>> = {
  "no assistant": async () => null,
  "an assistant": async () => (await acme.makeAssistant()).id,
  "a draft": async () => (await acme.makeAssistant({ isDraft: true })).id,
  "an assistant that is being deleted": async () => {
    const { id } = await acme.makeAssistant()
    await sql("update assistant set voice_agent_status = 'terminating' where id = $1", [id])
    return id
  },
}

describe.each(Object.entries(assistants))("a first message on a connection with %s", (which, make) => {
  it.each([
    ["a name and an id", { name: " Ann ", messageId: "1" }],
    ["a name", { name: "Ann" }],
    ["an id", { messageId: "1" }],
    ["neither", {}],
  ])("with %s leaves the same by the statement as by the transaction", async (_what, more) => {
    const connection = await widget(await make())
    const body = { text: "Hello", ...more }
    let stored: unknown
    const atOnce = await aroundOpening(
      async () => "go on",
      async () => (stored = await leftBy(connection, body)),
    )
    // The same message again would find its chat.
    await sql("update chat set external_id = id::text where from_id = $1", [`site-${connection}`])
    let expected: unknown
    const refused = await aroundOpening(
      async () => "refuse",
      async () => (expected = await leftBy(connection, body)),
    )
    expect([atOnce, refused]).toEqual([[1], [0]])
    expect(stored).toEqual(expected)
    const isAnswered = which === "an assistant"
    expect(stored).toMatchObject({
      chat: { id: "the chat", is_under_ai_control: isAnswered, unread_count: 1, last_sequence: 1, last_message_id: "the message" },
      messages: [{ id: "the message", sequence: 1 }],
      events: [{ type: "CHAT_CREATED" }, { type: "MESSAGE_CREATED" }],
      jobs: isAnswered ? [{ job: "reply", id: "the chat" }] : [],
    })
  })
})

describe("a new visitor's message", () => {
  it("is two statements", async () => {
    const connection = await widget(acme.assistant.id)
    const begins = () => visit(connection, { text: "Hello", messageId: v7() })
    expect(await statementsOf(w, begins)).toEqual(["connection-by-id", "open-inbound"])
  })

  it.each<[string, (connection: string, assistantId: string) => Promise<unknown>, boolean]>([
    ["the connection was disconnected", (id) => sql("update channel set is_active = false where id = $1", [id]), true],
    ["the connection got another account", (id) => sql("update channel set external_id = id::text where id = $1", [id]), true],
    [
      "the connection got another assistant",
      (id) => sql("update channel set assistant_id = $2 where id = $1", [id, acme.assistant.id]),
      true,
    ],
    ["the assistant became a draft", (_id, assistant) => sql("update assistant set is_draft = true where id = $1", [assistant]), false],
    [
      "the assistant is being deleted",
      (_id, assistant) => sql("update assistant set voice_agent_status = 'terminating' where id = $1", [assistant]),
      false,
    ],
    ["the assistant was deleted", (_id, assistant) => sql("delete from assistant where id = $1", [assistant]), false],
  ])("is left to the transaction when %s after they were read", async (_what, change, isAnswered) => {
    const assistant = await acme.makeAssistant()
    const connection = await widget(assistant.id)
    let chatId = ""
    const returned = await aroundOpening(
      async () => {
        await change(connection, assistant.id)
        return "go on"
      },
      async () => ({ chatId } = await visit(connection, { text: "Hello" })),
    )
    expect(returned).toEqual([0])
    expect(await sql("select id, is_under_ai_control, assistant_id from chat where from_id = $1", [`site-${connection}`])).toEqual([
      { id: chatId, is_under_ai_control: isAnswered, assistant_id: isAnswered ? assistant.id : null },
    ])
  })

  it("waits for a change of the assistant that is not committed, and is left to the transaction then", async () => {
    const assistant = await acme.makeAssistant()
    const connection = await widget(assistant.id)
    await using other = await openTransaction(w.databaseUrl)
    await other.query("update assistant set is_draft = true where id = $1", [assistant.id])
    let chatId = ""
    const returned = aroundOpening(
      async () => "go on",
      async () => ({ chatId } = await visit(connection, { text: "Hello" })),
    )
    const waits = "select count(*)::integer as waits from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    await until("the message waits for the assistant", async () => (await sql(waits))[0].waits > 0)
    await other.commit()
    expect(await returned).toEqual([0])
    expect(await sql("select is_under_ai_control from chat where id = $1", [chatId])).toEqual([{ is_under_ai_control: false }])
  })

  promised("is one chat when it arrives twelve times at once at two instances", async () => {
    const connection = await widget(acme.assistant.id)
    const second = await w.another()
    const body = JSON.stringify({ text: "Only once", messageId: v7() })
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const url = `${[w, second][index % 2]!.url}/hooks/widget/${connection}`
        const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
        const { chatId, messageId } = (await answer.json()) as { chatId: string; messageId: string }
        return `${answer.status} ${chatId} ${messageId}`
      }),
    )
    expect([...new Set(answers)]).toEqual([expect.stringMatching(/^201 /)])
    const [{ chats, messages, events }] = await sql(
      `select count(*)::integer as chats, (select count(*)::integer from message m where m.chat_id = any(array_agg(c.id))) as messages,
         (select count(*)::integer from event e where e.chat_id = any(array_agg(c.id))) as events
       from chat c where from_id = $1`,
      [`site-${connection}`],
    )
    expect({ chats, messages, events }).toEqual({ chats: 1, messages: 1, events: 2 })
  })
})
