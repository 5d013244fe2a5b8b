import { setTimeout as wait } from "node:timers/promises"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"

const nextSlot: Statement<{ wait_ms: number }> = {
  name: "next-send-slot",
  text: `
    update channel set next_send_at = greatest(next_send_at, clock_timestamp()) + $3::float8 * interval '1 millisecond'
    where id = $1 and company_id = any($2::uuid[])
    returning (extract(epoch from next_send_at - clock_timestamp()) * 1000 - $3::float8)::float8 as wait_ms`,
}

/** Waits until a connection may send its next request: the requests of all instances together keep to the vendor's rate. */
export async function paceOf(context: RequestContext, connectionId: string, perSecond: number | null, signal: AbortSignal): Promise<void> {
  if (!perSecond) return
  const [slot] = await context.statement(nextSlot, [connectionId, context.companyIds, 1000 / perSecond])
  if (slot && slot.wait_ms > 1) await wait(slot.wait_ms, undefined, { signal })
}
