import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Call } from "../entities/call.js"
import type { CallVariables } from "../entities/call-row.js"
import { clock } from "../entities/kit/clock.js"
import type { CallFacts } from "../ports/voice.js"
import { endCall } from "./end-call.js"
import { callLimits } from "./limits.js"
import { giveLines } from "./lines.js"
import { endOf } from "./outcome.js"
import { namesAnother, takeProviderId } from "./provider-id.js"
import { takeReports } from "./reports.js"

/** A call on its line, as its worker claimed it. */
export interface ClaimedCall {
  runId: string
  callId: string
  assistantId: string | null
  provider: string
  providerCallId: string | null
  phoneNumber: string
  variables: CallVariables
  dialedAt: Date | null
  answeredAt: Date | null
  maxDurationSeconds: number
  conversation: unknown
}

/** The signal of a request to a provider. */
export const requestSignal = (lease: Lease<Call>) => AbortSignal.any([lease.signal, AbortSignal.timeout(callLimits.providerMs)])

/** Asks the provider again after a while. */
export const waitForNextLook = (call: Call) => call.expectWork(call.line, new Date(clock.now().getTime() + callLimits.pollMs))

/** Stores what the provider reports about a locked call: its answer, its end, and who gets its line. What it says of another call is not stored. */
export async function storeFacts(tx: RequestContext, call: Call, facts: CallFacts): Promise<void> {
  const { callId, providerCallId, reference } = facts
  const isOfCall = !namesAnother({ callId }, call.id) && (!providerCallId || (await takeProviderId(tx, call, providerCallId, reference)))
  if (!isOfCall) {
    if (call.isOnLine) waitForNextLook(call)
    return
  }
  if (facts.state === "in_progress") call.answered()
  const end = endOf(facts, call)
  if (!end) {
    if (call.isOnLine) waitForNextLook(call)
    return
  }
  if (facts.replies && call.hear(facts.replies) && call.isEnded) call.expectWork(call.record, clock.now())
  if (await endCall(tx, call, end)) await giveLines(tx, call.companyId)
}

/** Stores that a provider dials, and what it reported before it said so. With an ID that another call has, it is in doubt whether it dials. */
export async function dialAccepted(tx: RequestContext, call: Call, providerCallId: string, reference: string | null): Promise<void> {
  if (!(await takeProviderId(tx, call, providerCallId, reference))) return waitForNextLook(call)
  for (const facts of await takeReports(tx, call)) await storeFacts(tx, call, facts)
}
