import { clock } from "../entities/kit/clock.js"
import { limits } from "../limits.js"
import type { Viewer } from "../schema/kit/viewer.js"

const renew = {
  name: "renew-turn-lease",
  text: "update chat set turn_lease_until = $1 where id = $2 and company_id = any($3::uuid[]) and turn_id = $4 returning id",
}

/** A held lease: its signal aborts when the turn is lost, or when the process stops. */
export interface Lease {
  signal: AbortSignal
  end(): void
}

/** Gives a sign of life while a turn runs; a turn that was taken away, by a person or by another worker, aborts the model call. */
export function holdLease(viewer: Viewer, chatId: string, turnId: string, stopping: AbortSignal): Lease {
  const lost = new AbortController()
  const timer = setInterval(() => {
    const until = new Date(clock.now().getTime() + limits.turnLeaseMs)
    viewer.statement(renew, [until, chatId, viewer.companyIds, turnId]).then(
      (rows) => rows.length === 0 && lost.abort(),
      // Not lost yet: the fence decides when the answer is stored.
      (error) => viewer.request.log.warn({ err: error }, "the lease of a turn was not renewed"),
    )
  }, limits.turnRenewMs)
  return { signal: AbortSignal.any([lost.signal, stopping]), end: () => clearInterval(timer) }
}
