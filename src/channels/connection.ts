import type { Database } from "../database/connect.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Assistant } from "../entities/assistant.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound } from "../errors.js"

/** A connection as `connectionSql()` returns it, also as JSON. */
export type FoundConnection = RowOf<"Channel", "id" | "company_id" | "external_id"> & {
  assistant: Pick<Assistant, "id" | "isDraft" | "voiceAgentStatus"> | null
  has_chat: boolean
}

/** Reads an active connection; the placeholders are those of its ID and messenger, and of a customer's chat and key. */
export const connectionSql = (id: string, messenger: string, chatId: string, key: string) => `
    select c.id, c.company_id, c.external_id,
      case when a.id is not null then jsonb_build_object('id', a.id, 'isDraft', a.is_draft, 'voiceAgentStatus', a.voice_agent_status) end as assistant,
      exists (select from chat where id = ${chatId} and company_id = c.company_id and messenger = c.messenger and from_id = c.external_id)
        or exists (select from chat where external_id = ${key} and company_id = c.company_id and messenger = c.messenger and from_id = c.external_id)
        as has_chat
    from channel c left join assistant a on a.id = c.assistant_id and a.company_id = c.company_id
    where c.id = ${id} and c.messenger = ${messenger} and c.is_active`

const connectionById: Statement<FoundConnection> = { name: "connection-by-id", text: connectionSql("$1", "$2", "$3", "$4") }

/** The customer who writes: the chat of their token, and the key of a chat that this message may have begun. */
export interface Customer {
  chatId?: string | null
  key?: string | null
}

/** The part of a channel connection that a hook needs. */
export interface Connection {
  id: string
  companyId: string
  externalId: string
  /** The assistant of new chats; of its columns only those that decide whether it can be assigned. */
  assistant: Assistant | null
  /** Whether the customer has a chat on the connection. */
  hasChat: boolean
}

/** The connection that the URL of a hook names; 404 when it is unknown, malformed, disconnected or of another messenger. */
export async function connectionOf(database: Database, messenger: string, id: string, { chatId, key }: Customer = {}): Promise<Connection> {
  const [row] = isUuid(id) ? await unscoped(database, connectionById, [id, messenger, chatId, key]) : []
  if (!row) throw new NotFound("Connection")
  return connectionIn(row)
}

/** The connection in such a row. */
export function connectionIn({ id, company_id, external_id, assistant, has_chat }: FoundConnection): Connection {
  const read: Assistant | null = assistant && Object.assign(Object.create(Assistant.prototype), assistant)
  return { id, companyId: company_id, externalId: external_id, assistant: read, hasChat: has_chat }
}
