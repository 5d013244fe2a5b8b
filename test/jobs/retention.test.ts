import { v7 } from "uuid"
import { checkCommands } from "../../src/admin/checks.js"
import type { CommandContext } from "../../src/admin/kit.js"
import type { Services } from "../../src/context/services.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { retention } from "../../src/jobs/retention.js"
import { administration } from "../kit/command-line.js"
import { password } from "../kit/company-fixture.js"
import { filesBelow, folderOfItsOwn, samples, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { endOfLog } from "../kit/sockets.js"
import { openTransaction } from "../kit/transaction.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const endpoint = await receiver()
afterAll(() => endpoint.close())

const folder = folderOfItsOwn()
const w = world({ MESSAGE_RETENTION_DAYS: "30", TOOL_LOG_RETENTION_DAYS: "10", AUDIT_RETENTION_DAYS: "365", DATA_DIR: folder })
const { acme, rest, sql } = w
const { look, said, write } = chatViews(w)
const { done } = administration(w)
const time = stillTime()
beforeAll(() => stopScheduler(w))

const days = (count: number) => count * 24 * 60 * 60 * 1000
/** Events without a position are left to a later run. */
const clear = async (services: Services = w.services) => {
  await endOfLog(w)
  await retention.run(services)
}
const say = (chatId: string, text: string, more: object = {}) => acme.message({ chatId, text, ...more })
const wrongCounters = () => checkCommands["check:counters"]!.run({ database: w.services.database } as CommandContext, {})
const messages = async (chatId: string) => (await rest.as(acme.token).get(`/api/messages?chatId=${chatId}`).expect(200)).body.data
const texts = async (chatId: string) => (await messages(chatId)).map(({ text }: { text: string }) => text).reverse()

/** Writes many old messages of customers to a chat, as they would have been stored. */
const many = (chatId: string, count: number) =>
  sql(
    `with m as (
       insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, status)
       select id, $3, $3, $1, $2, place, 'Customer', 'Text', 'many', 'stored' from unnest($4::uuid[]) with ordinality as each (id, place)
     )
     update chat set last_sequence = $5, unread_count = $5 where id = $2`,
    [acme.id, chatId, new Date(time.now()), Array.from({ length: count }, () => v7({ msecs: time.now() })), count],
  )

describe("messages that are older than MESSAGE_RETENTION_DAYS", () => {
  it("are deleted with their files; the chat keeps its place, its sequence and what is unread of the rest", async () => {
    const chat = await acme.chat()
    const { body: file } = await upload(w, acme.token, samples.png, "old.png").expect(201)
    const { body: old } = await rest
      .as(acme.token)
      .post("/api/messages", { chatId: chat.id, text: "first", mediaIds: [file.id] })
      .set("Idempotency-Key", v7())
      .expect(201)
    await say(chat.id, "second", { role: "Customer" })
    time.pass(days(20))
    const quoting = await say(chat.id, "third", { role: "Customer", replyToMessageId: old.id })
    expect(quoting.replyTo.text).toBe("first")
    await clear()
    expect(await texts(chat.id)).toEqual(["first", "second", "third"])

    time.pass(days(11))
    await clear()
    expect(await messages(chat.id)).toMatchObject([{ text: "third", sequence: 3, replyToMessageId: old.id, replyTo: null }])
    await rest.as(acme.token).get(`/api/messages/${old.id}`).expect(404)
    expect(await filesBelow(`${folder}/media`)).toEqual([])
    expect(await sql("select 1 from event where payload::text like '%first%'")).toEqual([])
    expect(await sql("select 1 from idempotency_key where payload::text like '%first%'")).toEqual([])
    const before = await look(chat)
    expect(before).toMatchObject({ unreadCount: 1, lastMessageAt: quoting.createdAt })

    const hit = await acme.guardrailHit({ chatId: chat.id })
    const excerptOf = async () => (await sql("select excerpt from guardrail_hit where id = $1", [hit.id]))[0].excerpt
    time.pass(days(20))
    await clear()
    expect(await messages(chat.id)).toEqual([])
    expect(await excerptOf()).toBe("My card is ••••")
    time.pass(days(11))
    await clear()
    expect(await excerptOf()).toBeNull()
    expect(await look(chat)).toEqual({ ...before, unreadCount: 0 })
    expect((await rest.as(acme.token).get("/api/chats?include=lastMessage").expect(200)).body.data[0]).toMatchObject({
      id: chat.id,
      lastMessage: null,
      lastMessageAt: quoting.createdAt,
    })
    expect(await say(chat.id, "fourth")).toMatchObject({ sequence: 4 })
    expect(await wrongCounters()).toEqual([])
  })

  it("are kept while a reply to them is due, and deleted when it was given", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    await write(chat, "When are you open?")
    time.pass(days(31))
    await clear()
    expect(await said(chat)).toEqual(["Customer: When are you open?"])
    await w.runDue()
    await clear()
    const [answer, ...more] = await said(chat)
    expect(answer).toMatch(/^Assistant: .*9:00/)
    expect(more).toEqual([])
  })

  promised("are left to the next run while their chat is locked, which delays no others", async () => {
    const [busy, idle] = [await acme.chat(), await acme.chat()]
    await say(busy.id, "busy")
    await say(idle.id, "idle")
    time.pass(days(31))
    await using other = await openTransaction(w.databaseUrl)
    await other.query("select 1 from chat where id = $1 for update", [busy.id])
    await clear()
    await other.rollback()
    expect([await texts(busy.id), await texts(idle.id)]).toEqual([["busy"], []])
    await clear()
    expect(await texts(busy.id)).toEqual([])
  })

  it("are deleted in batches, those without a chat too", async () => {
    const [large, small] = [await acme.chat(), await acme.chat()]
    await many(large.id, 1_234)
    const alone = await acme.message({ text: "alone" })
    time.pass(days(31))
    await many(small.id, 5)
    await clear()
    expect(await sql("select 1 from message where chat_id = $1 or id = $2", [large.id, alone.id])).toEqual([])
    expect(await look(large)).toMatchObject({ unreadCount: 0 })
    expect(await look(small)).toMatchObject({ unreadCount: 5 })
    expect(await wrongCounters()).toEqual([])
  })

  it("are a gap only at the beginning of a chat: any other is found by check:counters", async () => {
    const chat = await acme.chat()
    for (const text of ["a", "b", "c"]) await say(chat.id, text)
    await sql("delete from message where chat_id = $1 and sequence = 2", [chat.id])
    expect(await wrongCounters()).toMatchObject([{ chatId: chat.id }])
    await sql("delete from chat where id = $1", [chat.id])
  })
})

describe("tool calls that are older than TOOL_LOG_RETENTION_DAYS", () => {
  it("lose their bodies; the entries of the log and the totals stay", async () => {
    const tool = await acme.tool({ apiCallUrl: endpoint.url })
    endpoint.answer({ json: { found: "it" } })
    const call = (about: string) => rest.as(acme.token).post(`/api/assistant-tools-new/${tool.id}/test`, { params: { about } }).expect(201)
    const log = async () => (await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs`).expect(200)).body
    await call("old")
    time.pass(days(11))
    await call("new")
    const before = await log()
    await clear()
    const [kept, old] = before.data
    expect(await log()).toEqual({ ...before, data: [kept, { ...old, params: {}, response: null }] })
    expect([kept.params, old.params]).toEqual([{ about: "new" }, { about: "old" }])
  })
})

describe("audit entries that are older than AUDIT_RETENTION_DAYS", () => {
  it("are deleted", async () => {
    await acme.makeAssistant()
    time.pass(days(366))
    await done("balance:set", { company: acme.id, voice: "1" })
    await clear()
    expect((await done("audit:list", { company: acme.id })).map(({ action }: { action: string }) => action)).toEqual(["balance:set"])
  })
})

it("sessions are deleted when their last refresh token has expired", async () => {
  const signIn = { email: acme.owner.email, password }
  const { body: old } = await rest.as(null).post("/api/auth/sign-in", signIn).expect(200)
  time.pass(days(6))
  const { body: renewed } = await rest.as(null).post("/api/auth/refresh", { refreshToken: old.refreshToken }).expect(200)
  time.pass(days(6))
  await clear()
  const { body: again } = await rest.as(null).post("/api/auth/refresh", { refreshToken: renewed.refreshToken }).expect(200)
  const sessions = () => sql("select id from session")
  expect(await sessions()).toHaveLength(1)
  time.pass(days(8))
  await clear()
  expect([await sessions(), await sql("select id from refresh_token")]).toEqual([[], []])
  await rest.as(null).post("/api/auth/refresh", { refreshToken: again.refreshToken }).expect(400)
  await rest.as(null).post("/api/auth/sign-in", signIn).expect(200)
})

it("0 days keeps everything", async () => {
  const names = ["MESSAGE_RETENTION_DAYS", "TOOL_LOG_RETENTION_DAYS", "AUDIT_RETENTION_DAYS"]
  const keeping = await w.another(Object.fromEntries(names.map((name) => [name, "0"])))
  const chat = await acme.chat()
  await say(chat.id, "kept")
  await acme.makeAssistant()
  time.pass(days(400))
  const entries = await sql("select count(*) from audit_entry")
  await clear(keeping.services)
  expect(await texts(chat.id)).toEqual(["kept"])
  expect(await sql("select count(*) from audit_entry")).toEqual(entries)
})

it("what is old is found by an index", async () => {
  const chat = await acme.chat()
  await many(chat.id, 20_000)
  const tool = await acme.tool()
  await sql(
    `insert into tool_call (id, company_id, tool_id, params, status, success, created_at)
     select gen_random_uuid(), $1, $2, case when n % 20 = 0 then '{"a": 1}' else '{}' end::jsonb, 'success', true, $3 from generate_series(1, 20000) n`,
    [acme.id, tool.id, new Date(time.now())],
  )
  await sql(
    `insert into audit_entry (id, company_id, actor_kind, action, subject_type, subject_id, changed, created_at)
     select gen_random_uuid(), $1, 'SYSTEM', 'test', 'Company', $1, '{}', $2 from generate_series(1, 20000)`,
    [acme.id, new Date(time.now())],
  )
  await sql("analyze message, tool_call, audit_entry")
  const { pool } = w.services.database
  const sent = jest.spyOn(pool, "query")
  await clear()
  const statements = sent.mock.calls.map(([statement]) => statement as unknown as { name?: string; text: string; values: unknown[] })
  sent.mockRestore()
  const plan = async (name: string) => {
    const { text, values } = statements.find((each) => each.name === name)!
    return (await pool.query(`explain ${text}`, values)).rows.map((row) => row["QUERY PLAN"]).join("\n")
  }
  // Where there are few companies, PostgreSQL 18 also uses the index on the company and the ID.
  expect(await plan("clear-messages")).toMatch(
    /(Index Scan using message_\w+ on message|Bitmap Index Scan on message_\w+)\b.*\n\s+Index Cond: \(\(id > .* AND \(id < /,
  )
  expect(await plan("clear-tool-bodies")).toMatch(/Index Scan using tool_call_body on tool_call/)
  expect(await plan("clear-audit-entries")).toMatch(/Index Scan using audit_entry_age on audit_entry/)
})

it("positions of writes are deleted after a while, by the clock of the database", async () => {
  const times =
    "'token:new', pg_current_wal_insert_lsn(), now()), ('token:old', pg_current_wal_insert_lsn(), now() - make_interval(secs => $1)"
  await sql(`insert into write_position (key, position, written_at) values (${times})`, [jobLimits.writePositionSeconds + 1])
  await clear()
  expect(await sql("select key from write_position")).toEqual([{ key: "token:new" }])
})
