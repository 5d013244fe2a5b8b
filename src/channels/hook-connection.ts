import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import { together } from "../database/together.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Messenger } from "../entities/channel.js"
import { isUuid } from "../entities/kit/scalars.js"
import { oncePer } from "../once-per.js"
import type { Account } from "../ports/channel.js"
import { accountOf } from "./account.js"
import { channelLimits } from "./limits.js"

type ConnectionRow = RowOf<"Channel", "id" | "company_id" | "external_id" | "name" | "credentials" | "assistant_id" | "last_inbound_at">

/** An active connection as its hook needs it. */
export interface HookConnection {
  id: string
  companyId: string
  messenger: Messenger
  /** ID of the connected account. */
  externalId: string
  assistantId: string | null
  lastInboundAt: Date | null
  account: Account
}

const columns = "id, company_id, external_id, name, credentials, assistant_id, last_inbound_at"
const byIds: Statement<ConnectionRow & RowOf<"Channel", "messenger">> = {
  name: "hook-connections",
  text: `select ${columns}, messenger from channel where id = any($1::uuid[]) and is_active`,
}
const byMessenger: Statement<ConnectionRow> = {
  name: "hook-connections-of-messenger",
  text: `select ${columns} from channel where messenger = $1 and is_active order by external_id = $2 desc, id limit $3`,
}

/** The active connection with this ID and messenger; null when there is none. */
export async function hookConnection(services: Services, messenger: Messenger, id: string): Promise<HookConnection | null> {
  const connection = isUuid(id) ? await hookConnectionOf(services, id.toLowerCase()) : null
  return connection?.messenger === messenger ? connection : null
}

/** The active connection with this ID, of any messenger; null when there is none. */
export const hookConnectionOf = (services: Services, id: string): Promise<HookConnection | null> => connectionsOf(services)(id)

/** Looks connections up, those of concurrent requests by one statement. Results are not cached, so that a change holds at once. */
const connectionsOf = oncePer((services: Services) => {
  const find = async (ids: readonly string[]) => {
    const rows = await unscoped(services.database, byIds, [ids])
    const found = new Map(rows.map((row) => [row.id, connectionOf(services, row.messenger as Messenger, row)]))
    return ids.map((id) => found.get(id) ?? null)
  }
  return together(find)
})

/**
 * The connection of another account that shares its hook with this one, since both belong to one application of the vendor: an active one
 * with the same `appSecret`, which has signed the request. Null when there is none.
 */
export async function sibling(services: Services, connection: HookConnection, account: string): Promise<HookConnection | null> {
  const { appSecret } = connection.account.credentials
  if (!appSecret) return null
  const rows = await unscoped(services.database, byMessenger, [connection.messenger, account, channelLimits.siblings])
  const all = rows.map((row) => connectionOf(services, connection.messenger, row))
  // Adapters store an account's own ID with its credentials, where the operator may have given another.
  const isOf = ({ externalId, account: { credentials } }: HookConnection) =>
    [externalId, credentials["phoneNumberId"], credentials["accountId"], credentials["pageId"]].includes(account)
  return all.find((each) => each.account.credentials["appSecret"] === appSecret && isOf(each)) ?? null
}

function connectionOf({ secrets }: Pick<Services, "secrets">, messenger: Messenger, row: ConnectionRow): HookConnection {
  const { id, company_id: companyId, external_id: externalId, name, credentials, assistant_id: assistantId, last_inbound_at: at } = row
  const account = accountOf({ id, companyId, externalId, name, credentials }, secrets)
  return { id, companyId, messenger, externalId, assistantId, lastInboundAt: at ? new Date(at) : null, account }
}
