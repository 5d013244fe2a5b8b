import { setTimeout as wait } from "node:timers/promises"
import { Lanes } from "../context/lanes.js"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { oncePer } from "../once-per.js"
import { channelLimits } from "./limits.js"

const nextSlot: Statement<{ wait_ms: number }> = {
  name: "next-send-slot",
  text: `
    update channel set next_send_at = greatest(next_send_at, clock_timestamp()) + $3::float8 * interval '1 millisecond'
    where id = $1 and company_id = any($2::uuid[])
    returning (extract(epoch from next_send_at - clock_timestamp()) * 1000 - $3::float8)::float8 as wait_ms`,
}

const lanesOf = oncePer((_services: Services) => new Lanes(channelLimits.slotStatements))

/**
 * Waits until a connection may send its next request: the requests of all instances together keep to the vendor's rate. One statement of a
 * connection at a time, since its row may be locked: the other deliveries wait here, and not each on a database connection.
 */
export async function paceOf(context: RequestContext, connectionId: string, perSecond: number | null, signal: AbortSignal): Promise<void> {
  if (!perSecond) return
  const [slot] = await lanesOf(context.services).run(connectionId, () => {
    signal.throwIfAborted()
    return context.statement(nextSlot, [connectionId, context.companyIds, 1000 / perSecond])
  })
  if (slot && slot.wait_ms > 1) await wait(slot.wait_ms, undefined, { signal })
}
