import { type RawBuilder, sql } from "kysely"
import { NIL } from "uuid"
import { type PlainRow, readModelOf, type Selection } from "../database/read-model.js"
import { anyOf, arrayOf, type Reader } from "../database/reader.js"
import type { EntityName } from "../database/tables.js"
import { adminLimits } from "./limits.js"

/** Reads the rows of a type after an ID in pages, each by one short statement; the reader limits them to its company. */
export async function* rowsOf(
  reader: Reader,
  type: EntityName,
  selection: Selection,
  { where = sql<boolean>`true`, after = NIL }: { where?: RawBuilder<boolean>; after?: string } = {},
): AsyncGenerator<PlainRow[]> {
  for (let last = after; ; ) {
    const rows = await reader.list(readModelOf(type)!, selection, (query) =>
      query.where(sql<boolean>`t.id > ${last}`).where(where).orderBy(sql`t.id`).limit(adminLimits.exportBatch),
    )
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)!.id
  }
}

/** Condition on the private chats of a customer; a group also belongs to others. */
export function ofCustomer(name: string): RawBuilder<boolean> {
  const [phone, username] = [name.replace(/[\s()-]/g, ""), name.replace(/^@/, "").toLowerCase()]
  const names = [
    sql`t.external_id = ${name}`,
    ...(/^\+?\d+$/.test(phone) ? [sql`regexp_replace(t.phone_number, '[[:space:]()-]', '', 'g') = ${phone}`] : []),
    ...(username ? [sql`lower(regexp_replace(t.username, '^@', '')) = ${username}`] : []),
  ]
  return sql<boolean>`(t.chat_type = 'private' and (${sql.join(names, sql` or `)}))`
}

/** The chats and calls of a customer. */
export interface OfCustomer {
  chatIds: string[]
  callIds: string[]
}

/** Finds the private chats and the calls of a customer. */
export async function findCustomer(reader: Reader, name: string): Promise<OfCustomer> {
  const found: OfCustomer = { chatIds: [], callIds: [] }
  for await (const page of rowsOf(reader, "Chat", {}, { where: ofCustomer(name) })) found.chatIds.push(...page.map(({ id }) => id))
  for await (const page of rowsOf(reader, "Call", {}, { where: callsOf(name) })) found.callIds.push(...page.map(({ id }) => id))
  return found
}

/** Condition on the calls to a telephone number. */
export const callsOf = (name: string): RawBuilder<boolean> => sql<boolean>`t.phone_number = ${name.replace(/[\s()-]/g, "")}`

/** Condition on the recordings of calls. */
export const recordingsOf = (callIds: string[]): RawBuilder<boolean> =>
  sql<boolean>`t.id in (select c.recording_id from call c where c.id = ${anyOf(arrayOf(callIds))})`

/** Condition on the files of the messages of chats. */
export const filesOf = (chatIds: string[]): RawBuilder<boolean> =>
  sql<boolean>`t.id in (select x.media_id from message_media x join message m on m.id = x.message_id where m.chat_id = ${anyOf(arrayOf(chatIds))})`
