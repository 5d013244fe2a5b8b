import type { Database } from "../database/connect.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Assistant } from "../entities/assistant.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound } from "../errors/errors.js"

type Found = RowOf<"Channel", "id" | "company_id" | "external_id"> & {
  assistant: Pick<Assistant, "id" | "isDraft" | "voiceAgentStatus"> | null
  has_chat: boolean
}

const connectionById: Statement<Found> = {
  name: "connection-by-id",
  text: `
    select c.id, c.company_id, c.external_id,
      case when a.id is not null then jsonb_build_object('id', a.id, 'isDraft', a.is_draft, 'voiceAgentStatus', a.voice_agent_status) end as assistant,
      exists (select from chat where external_id = $3 and company_id = c.company_id and messenger = c.messenger and from_id = c.external_id) as has_chat
    from channel c left join assistant a on a.id = c.assistant_id and a.company_id = c.company_id
    where c.id = $1 and c.messenger = $2 and c.is_active`,
}

/** The part of a channel connection that a hook needs. */
export interface Connection {
  id: string
  companyId: string
  externalId: string
  /** The assistant of new chats; of its columns only those that decide whether it can be assigned. */
  assistant: Assistant | null
  /** Whether there is a chat with the customer's key on the connection. */
  hasChat: boolean
}

/**
 * The connection that the URL of a hook names, for a customer with this key (`externalId` of a chat); 404 when it is unknown, malformed,
 * disconnected or of another messenger.
 */
export async function connectionOf(database: Database, messenger: string, id: string, key: string | null = null): Promise<Connection> {
  const [row] = isUuid(id) ? await unscoped(database, connectionById, [id, messenger, key]) : []
  if (!row) throw new NotFound("Connection")
  const assistant: Assistant | null = row.assistant && Object.assign(Object.create(Assistant.prototype), row.assistant)
  return { id: row.id, companyId: row.company_id, externalId: row.external_id, assistant, hasChat: row.has_chat }
}
