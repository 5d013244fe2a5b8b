import type { RequestContext } from "../context/request-context.js"
import { entityLimits } from "../entities/limits.js"
import { keepLease, type Lease } from "../jobs/kit/lease.js"
import { assistantLimits } from "./limits.js"

const renew = {
  name: "renew-turn-lease",
  text: "update chat set turn_lease_until = $1 where id = $2 and company_id = any($3::uuid[]) and turn_id = $4 returning id",
}

/** Gives a sign of life while a turn runs; a turn that was taken away, by a person or by another worker, aborts the model call. */
export const holdLease = (context: RequestContext, chatId: string, turnId: string, stopping: AbortSignal): Lease =>
  keepLease(context, { leaseMs: entityLimits.turnLeaseMs, renewMs: assistantLimits.turnRenewMs, stopping }, async (until) => {
    const rows = await context.statement(renew, [until, chatId, context.companyIds, turnId])
    return rows.length > 0
  })
