import type { Viewer } from "../context/request-context.js"
import { keepLease, type Lease } from "../jobs/kit/lease.js"
import { limits } from "../limits.js"

const renew = {
  name: "renew-turn-lease",
  text: "update chat set turn_lease_until = $1 where id = $2 and company_id = any($3::uuid[]) and turn_id = $4 returning id",
}

/** Gives a sign of life while a turn runs; a turn that was taken away, by a person or by another worker, aborts the model call. */
export const holdLease = (viewer: Viewer, chatId: string, turnId: string, stopping: AbortSignal): Lease =>
  keepLease(viewer, { leaseMs: limits.turnLeaseMs, renewMs: limits.turnRenewMs, stopping }, async (until) => {
    const rows = await viewer.statement(renew, [until, chatId, viewer.companyIds, turnId])
    return rows.length > 0
  })
