import { sql } from "kysely"
import { type PlainRow, readModelOf, type Selection } from "../database/read-model.js"
import { anyOf, arrayOf, type Reader } from "../database/reader.js"
import { snapshotOf } from "../rest/kit/representation.js"
import { filesOf, type OfCustomer, recordingsOf, rowsOf } from "./customer.js"
import { adminLimits } from "./limits.js"

/** Types that an export of a company has after the company itself, in their order. */
export const companyKinds = [
  "AccessToken",
  "AuditEntry",
  "Channel",
  "EventWebhook",
  "McpServer",
  "AssistantFolder",
  "Assistant",
  "AssistantTool",
  "Knowledge",
  "ChatFolder",
  "ChatTag",
  "Chat",
  "Message",
  "Stretch",
  "Call",
  "ToolCall",
  "AskedQuestion",
  "GuardrailHit",
  "Media",
] as const

export type ExportedKind = (typeof companyKinds)[number]

/** Types that an export of a customer has, in their order. */
export const customerKinds: readonly ExportedKind[] = [
  "Chat",
  "Message",
  "Stretch",
  "Call",
  "ToolCall",
  "AskedQuestion",
  "GuardrailHit",
  "Media",
]

/** Fields that an export reads beside those of a snapshot: URLs, which lead to the copies, and the keys of the files to copy. */
const more = (kind: ExportedKind): Selection => {
  if (kind === "Media") return { url: {}, storageKey: {} }
  return kind === "Knowledge" ? { file: { ...snapshotOf("Media"), url: {} } } : {}
}

/** Reads the rows of a type after a record in pages: all of the company, or those of a customer. */
export async function* pagesOf(
  reader: Reader,
  kind: ExportedKind,
  customer: OfCustomer | null,
  after: PlainRow | null,
): AsyncGenerator<PlainRow[]> {
  const selection = { ...snapshotOf(kind), ...more(kind) }
  if (customer && kind === "Message") return yield* messagesOf(reader, selection, customer.chatIds, after)
  const where = customer ? conditionOf(kind, customer) : undefined
  yield* rowsOf(reader, kind, selection, { where, after: after?.id })
}

function conditionOf(kind: ExportedKind, { chatIds, callIds }: OfCustomer) {
  const isOneOf = (column: string, ids: string[]) => sql<boolean>`${sql.ref(column)} = ${anyOf(arrayOf(ids))}`
  if (kind === "Media") return sql<boolean>`(${filesOf(chatIds)} or ${recordingsOf(callIds)})`
  if (kind === "Call") return isOneOf("t.id", callIds)
  if (kind === "Chat") return isOneOf("t.id", chatIds)
  if (kind === "Stretch") return isOneOf("t.chat_id", chatIds)
  return sql<boolean>`(${isOneOf("t.chat_id", chatIds)} or ${isOneOf("t.call_id", callIds)})`
}

/** Read chat by chat, in the order of an index: by ID, each page would sort all messages of the chats. */
async function* messagesOf(reader: Reader, selection: Selection, chatIds: string[], after: PlainRow | null): AsyncGenerator<PlainRow[]> {
  for (const chatId of chatIds) {
    if (after && chatId < (after["chatId"] as string)) continue
    for (let last = after?.["chatId"] === chatId ? (after["sequence"] as number) : 0; ; ) {
      const rows = await reader.list(readModelOf("Message")!, selection, (query) =>
        query.where(sql<boolean>`t.chat_id = ${chatId} and t.sequence > ${last}`).orderBy(sql`t.sequence`).limit(adminLimits.exportBatch),
      )
      if (rows.length === 0) break
      yield rows
      last = rows.at(-1)!["sequence"] as number
    }
  }
}
