import pg from "pg"
import { v7 } from "uuid"
import { openPool, preparedAs, serve } from "./bare.js"
import { chatPages, column, countFiltered, messageFields, selections, storeMessage } from "./statements.js"

// biome-ignore lint/suspicious/noExplicitAny: a row, as PostgreSQL answers it.
type Row = Record<string, any>

/**
 * LIMIT-rows: the upper bound for a server that joins rows in JavaScript. One prepared statement for the page and one for each kind of related
 * row, by ids, all of a level at once.
 */
const pool = openPool({
  getTypeParser: (oid, format) => (oid === pg.types.builtins.TIMESTAMPTZ ? isoText : pg.types.getTypeParser(oid, format)),
})

/** PostgreSQL's text of a time in UTC as ISO 8601. */
const isoText = (text: string) => `${text.slice(0, 10)}T${text.slice(11, -3)}Z`

async function run(name: string, text: string, values: unknown[]): Promise<Row[]> {
  const { rows } = await pool.query({ name: preparedAs(name), text, values })
  return rows
}

const columns = (alias: string, properties: string[]) => properties.map((name) => `${alias}.${column(name)} as "${name}"`).join(", ")
const { chat, message, assistant, folder, tag, media } = selections

const chatColumns = `${columns("page", chat)}, page.recency::text as recency, last_message_id, assistant_id, folder_id`
const pageOf = (rows: string) => `select ${chatColumns} from (${rows}) page order by page.recency desc, page.id desc`
const byIds = (table: string, properties: string[]) => `select ${columns("t", properties)} from ${table} t where t.id = any($1::uuid[])`

const texts = {
  latest: pageOf(chatPages.latest),
  after: pageOf(chatPages.after),
  filtered: pageOf(chatPages.filtered),
  found: pageOf(chatPages.found),
  lastMessages: byIds("message", message),
  assistants: byIds("assistant", assistant),
  folders: byIds("chat_folder", folder),
  tags: `select g.chat_id, ${columns("t", tag)} from chat_tagging g join chat_tag t on t.id = g.tag_id
    where g.chat_id = any($1::uuid[]) order by lower(t.name)`,
  messages: `select ${columns("t", message)}, t.reply_to_message_id from message t where t.chat_id = $1 order by t.sequence desc limit 30`,
  files: `select l.message_id, ${columns("t", media)} from message_media l join media t on t.id = l.media_id
    where l.message_id = any($1::uuid[]) order by l.position`,
}

/** The rows that a column references, by id; without ids there is no query. */
async function named(name: "lastMessages" | "assistants" | "folders", rows: Row[], key: string): Promise<Map<string, Row>> {
  const ids = [...new Set(rows.flatMap((row) => row[key] ?? []))]
  const found = ids.length === 0 ? [] : await run(name, texts[name], [ids])
  return new Map(found.map((row) => [row["id"], row]))
}

/** The rows that reference others, in their order. */
async function belonging(name: "tags" | "files", ids: string[], key: string): Promise<Map<string, Row[]>> {
  const lists = new Map<string, Row[]>(ids.map((id) => [id, []]))
  for (const { [key]: owner, ...row } of ids.length === 0 ? [] : await run(name, texts[name], [ids])) lists.get(owner)!.push(row)
  return lists
}

/** A page of chats, with the total count when there is one. */
async function chats(name: "latest" | "after" | "filtered" | "found", values: unknown[], counting?: Promise<Row[]>): Promise<string> {
  const rows = await run(name, texts[name], values)
  const ids = rows.map((row) => row["id"])
  const [lastMessages, assistants, folders, tags, counted] = await Promise.all([
    named("lastMessages", rows, "last_message_id"),
    named("assistants", rows, "assistant_id"),
    named("folders", rows, "folder_id"),
    belonging("tags", ids, "chat_id"),
    counting,
  ])
  const nodes = rows.map(({ recency: _, last_message_id, assistant_id, folder_id, ...row }) => ({
    ...row,
    lastMessage: lastMessages.get(last_message_id) ?? null,
    assistant: assistants.get(assistant_id) ?? null,
    folder: folders.get(folder_id) ?? null,
    tags: tags.get(row["id"]),
  }))
  const last = rows.at(-1)
  return JSON.stringify({ nodes, endCursor: last ? `${last["recency"]} ${last["id"]}` : null, totalCount: counted?.[0]?.["count"] })
}

async function messages(chatId: string): Promise<string> {
  const rows = await run("messages", texts.messages, [chatId])
  const withFiles = rows.filter((row) => row["type"] !== "Text").map((row) => row["id"])
  const [quoted, files] = await Promise.all([
    named("lastMessages", rows, "reply_to_message_id"),
    belonging("files", withFiles, "message_id"),
  ])
  const nodes = rows.map(({ reply_to_message_id, ...row }) => ({
    ...row,
    replyTo: quoted.get(reply_to_message_id) ?? null,
    messageMedia: (files.get(row["id"]) ?? []).map((file) => ({ media: file })),
  }))
  return JSON.stringify({ nodes })
}

const stored = storeMessage("$1::uuid", "$2", "$3", columns("made", messageFields))

serve({
  latest: (...values) => chats("latest", values),
  after: (...values) => chats("after", values),
  filtered: (...values) => chats("filtered", values, run("count", countFiltered, values)),
  found: (...values) => chats("found", values),
  messages,
  createMessage: async (...values) => JSON.stringify((await run("createMessage", stored, [v7(), ...values]))[0]),
})
