import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { clock } from "../entities/kit/clock.js"
import type { McpServer } from "../entities/mcp-server.js"
import { storeListing } from "./listing.js"
import { isOfNow, listingOf, listKnown } from "./servers.js"

/** What a listing begins with: the server and its tools as they are stored. */
export type KnownServer = Awaited<ReturnType<typeof beginRefresh>>

/** Reads what a listing needs, in the transaction that claims it. */
export const beginRefresh = (tx: RequestContext, server: McpServer) => listingOf(tx, server)

/** Lists the tools of a server and stores them, unless the server was changed meanwhile. */
export async function refresh(lease: Lease<McpServer>, known: KnownServer): Promise<void> {
  const begun = clock.now()
  const listing = await listKnown(lease.context, known, lease.signal)
  // Stopped, not unreachable.
  lease.signal.throwIfAborted()
  await lease.store((server, tx) => {
    if (isOfNow(server, known.server, begun)) return storeListing(tx, server, listing)
  })
}
