import { readFileSync } from "node:fs"
import { join } from "node:path"
import { deliver } from "../../src/jobs/deliver.js"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { readWithoutCompany, sentStatements } from "../kit/company-plans.js"
import { eventWebhooks } from "../kit/event-webhooks.js"
import { samples, upload } from "../kit/files.js"
import { receiver } from "../kit/receiver.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world({ REPLY_DEBOUNCE_MS: "0" })
const { acme, globex, rest, gql } = w
const document = readFileSync(join(process.cwd(), "docs/decisions/sharding.md"), "utf8")
let ofCompanies: Set<string>

beforeAll(async () => {
  await stopScheduler(w)
  await w.services.running.idle()
  const tables = await w.sql(
    "select table_name from information_schema.columns where column_name = 'company_id' and table_schema = 'public'",
  )
  ofCompanies = new Set(tables.map(({ table_name }) => table_name))
})

/**
 * Statements that read tables of companies without the company, by their names or by how they begin. The document says of each why, and
 * how it changes when the tables are distributed.
 */
const exceptions: Record<string, RegExp> = {
  "tokens-by-digest": /^tokens-by-digest$/,
  "touch-token": /^touch-token$/,
  "session-with-memberships": /^session-with-memberships$/,
  "sockets-changed": /^sockets-changed$/,
  "connection-by-id, connection-of-visitor": /^connection-(?:by-id|of-visitor)$/,
  "the sequencer": /^with batch as \(\s*select id, row_number\(\) over \(order by id\)/,
  "events-after": /^events-after$/,
  "any-event-webhook": /^any-event-webhook$/,
  "the fan-out": /^with start as \(\s*select greatest\(reader\.position/,
  "due-NAME, counts-NAME, renew-lease-NAME": /^(?:due|counts|renew-lease)-(?!event-deliveries)/,
  "clear-NAME, end-lost-tool-calls, quiet-chats, end-quiet-stretches, chats-without-stretches, due-rating-requests, ungrouped-questions, companies-with-NAME, stale-embedding-model":
    /^(?:clear-|end-lost-tool-calls$|quiet-chats$|end-quiet-stretches$|chats-without-stretches$|due-rating-requests$|ungrouped-questions$|companies-with-|stale-embedding-model$)/,
  "claim-turns, claim-deliveries": /^claim-(?:turns|deliveries)$/,
  "due-event-deliveries, next-due-event-delivery":
    /^(?:due-event-deliveries|next-due-event-delivery|select \(extract\(epoch from d\.due_at\))/,
  "forget-NAME": /^(?:forget-\w|delete from event where id in|update event_delivery set snapshot = null)/,
  "the filter of chats by tags": /exists \(select 1 from chat_tagging g where g\.chat_id = t\.id/,
  "changes and deletions by the ORM": /^(?:update|delete from) "\w+" .*where (?:"\w+"\.)?"id" (?:=|in) /s,
}

/** Requests of users, a customer's message with its answer, and the work that follows, as far as the scheduler does not start it. */
async function stories() {
  const endpoint = await receiver()
  const hooks = eventWebhooks(w)
  const hook = await hooks.create(endpoint)
  const after = await endOfLog(w)
  const me = rest.as(acme.token)
  const widget = `/hooks/widget/${acme.widget.id}`
  const { visitorToken } = (await rest.as({}).post(widget, { text: "When are you open?" }).expect(201)).body
  await w.runDue()
  await rest.as({}).post(widget, { text: "And on Sunday?", visitorToken }).expect(201)
  await w.runDue()

  const file = (await upload(w, acme.token, samples.png, "dot.png").expect(201)).body
  const [chat, folder, tag, tool] = [
    await acme.chat({ assistantId: acme.assistant.id }),
    await acme.folder(),
    await acme.tag(),
    await acme.tool(),
  ]
  const knowledge = await acme.makeKnowledge()
  await indexKnowledge.sweep.run(w.services)
  await w.services.running.idle()
  const at = `/api/chats/${chat.id}`
  await acme.message({ chatId: chat.id })
  await acme.message({ chatId: chat.id, text: "Look", mediaIds: [file.id] })
  await acme.message({ chatId: chat.id, text: "Hello", role: "Customer" })
  await me.patch(`${at}/ai-control`, { isUnderAiControl: false }).expect(200)
  await me.patch(`${at}/ai-control`, { isUnderAiControl: true }).expect(200)
  await me.patch(`${at}/folder`, { folderId: folder.id }).expect(200)
  await me.put(`${at}/tags`, { tagIds: [tag.id] }).expect(200)
  await me.post(`${at}/meta/labels`, { label: "urgent" }).expect(201)
  await me.delete(`${at}/meta/labels/urgent`).expect(200)
  await me.post(`${at}/read`, {}).expect(201)
  await me.patch(at, { name: "Ann" }).expect(200)
  for (const path of [
    ...[
      "/api/chats",
      `/api/chats?folderId=${folder.id}&search=Ann`,
      `/api/chats?filter=tagIds:in:${tag.id}`,
      at,
      "/api/chats/messengers",
      `/api/messages?chatId=${chat.id}`,
    ],
    ...["/api/chat-folders", "/api/chat-tags", "/api/assistants-new", `/api/assistants-new/${acme.assistant.id}`, "/api/calls-history"],
    ...[
      "/api/assistant-tools-new",
      `/api/assistant-tools-new/${tool.id}/logs`,
      `/api/assistant-knowledge-new?assistantId=${acme.assistant.id}`,
    ],
    ...["/api/event-webhooks", `/api/event-webhooks/${hook.id}/deliveries`, "/api/companies/my"],
  ])
    await me.get(path).expect(200)
  const nested = "{ chats { nodes { lastMessage { text } tags { name } folder { name } assistant { name } } totalCount } }"
  expect((await gql(acme.owner.jwt, nested)).errors).toBeUndefined()
  await me.post("/api/assistant-knowledge-new/query", { assistantId: acme.assistant.id, query: "open" }).expect(201)

  const heard = await subscribe(w, acme.token, { after })
  await heard.take(3)
  await heard.stop()
  await hooks.send()
  await deliver.sweep.run(w.services)
  await w.services.running.idle()
  await me.delete(`/api/chat-tags/${tag.id}`).expect(200)
  await me.delete(`/api/assistant-knowledge-new/${knowledge.id}`).expect(200)
  await me.delete(at).expect(200)
  await endpoint.close()
}

it("reads each company's table with the company, unless the document says why not", async () => {
  const statements = await sentStatements(w, stories)
  const names = statements.map(({ name }) => name)
  const hot = ["append-message", "append-from-widget", "open-inbound", "append-answer", "events-replayed"]
  expect(hot.filter((name) => !names.includes(name))).toEqual([])
  const complaints: string[] = []
  for (const statement of statements) {
    const shown = statement.name?.startsWith("read-") ? statement.text.trim() : (statement.name ?? statement.text.trim())
    const tables = await readWithoutCompany(w, statement, ofCompanies)
    if (tables.length > 0 && !Object.values(exceptions).some((pattern) => pattern.test(shown))) complaints.push(`${tables}: ${shown}`)
  }
  expect(complaints).toEqual([])
})

it("the document has a row for each exception, and no other", () => {
  const [, table = ""] = /^## Statements without the company$(.*?)^## /ms.exec(document) ?? []
  const rows = [...table.matchAll(/^\| (.+?) +\|/gm)].map(([, name]) => name!.replaceAll("`", "")).slice(2)
  expect(rows).toEqual(Object.keys(exceptions))
})

it("the document lists each unique key of a company's table that lacks the company", async () => {
  const keys = await w.sql(
    `select t.relname || '.' || i.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
     where x.indisunique and i.relname <> t.relname || '_pkey' and t.relname = any($1)
       and not exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'company_id' and a.attnum = any(x.indkey))`,
    [[...ofCompanies]],
  )
  const [, list = ""] = /^## Unique keys without the company$(.*?)^## /ms.exec(document) ?? []
  const listed = [...list.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(keys.map(({ name }) => name).toSorted())
})

it.each([
  ["a row by its id", "select * from chat where id = $1", ["chat"]],
  ["a row by its id and its company", "select * from chat where id = $1 and company_id = $2", []],
  [
    "a join by the company",
    "select m.id from message m join chat c on c.id = m.chat_id and c.company_id = m.company_id where c.id = $1 and c.company_id = $2",
    [],
  ],
  [
    "a join by the chat alone",
    "select m.id from message m join chat c on c.id = m.chat_id where c.id = $1 and c.company_id = $2",
    ["message"],
  ],
  [
    "a join of two that nobody limits",
    "select m.id from message m join chat c on c.id = m.chat_id and c.company_id = m.company_id where c.id = $1 or c.id = $2",
    ["message", "chat"],
  ],
  ["a change by the id", "update chat set name = 'Ann' where id in ($1, $2)", ["chat"]],
])("the plan shows whether the company is there: %s", async (_what, text, tables) => {
  const values = text.includes("$2") ? [acme.id, globex.id] : [acme.id]
  expect((await readWithoutCompany(w, { text, values }, ofCompanies)).toSorted()).toEqual(tables.toSorted())
})
