import type { Database } from "../database/connect.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound } from "../errors.js"

const connectionById: Statement<RowOf<"Channel", "id" | "company_id" | "external_id" | "assistant_id">> = {
  name: "connection-by-id",
  text: "select id, company_id, messenger, external_id, assistant_id from channel where id = $1 and messenger = $2 and is_active",
}

/** The part of a channel connection that a hook needs. */
export interface Connection {
  id: string
  companyId: string
  externalId: string
  assistantId: string | null
}

/** The connection that the URL of a hook names; 404 when it is unknown, malformed, disconnected or of another messenger. */
export async function connectionOf(database: Database, messenger: string, id: string): Promise<Connection> {
  const [row] = isUuid(id) ? await unscoped(database, connectionById, [id, messenger]) : []
  if (!row) throw new NotFound("Connection")
  return { id: row.id, companyId: row.company_id, externalId: row.external_id, assistantId: row.assistant_id }
}
