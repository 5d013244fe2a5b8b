import type { RequestContext } from "../context/request-context.js"
import type { Call, CallEnd } from "../entities/call.js"
import { chargeMinutes } from "./statements.js"

/** Ends a locked call: its state, its duration, its charge and its event are one transaction. Returns false when it has ended before. */
export async function endCall(tx: RequestContext, call: Call, end: CallEnd): Promise<boolean> {
  if (!call.end(end)) return false
  const minutes = call.charge()
  if (minutes) await chargeMinutes(tx, call.companyId, minutes)
  tx.services.metrics.calls.inc({ provider: call.provider, status: call.status, reason: end.endedReason })
  return true
}
