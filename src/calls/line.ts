import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Call } from "../entities/call.js"
import { clock } from "../entities/kit/clock.js"
import type { Failure } from "../entities/kit/work-state.js"
import { type CallFacts, VoiceFailure, type VoiceProvider } from "../ports/voice.js"
import { dial } from "./dial.js"
import { endCall } from "./end-call.js"
import { type ClaimedCall, requestSignal, storeFacts, waitForNextLook } from "./facts.js"
import { callLimits } from "./limits.js"
import { giveLines } from "./lines.js"
import { playCall } from "./play.js"
import { namesAnother } from "./provider-id.js"

/** Claims the next step of a call on its line; null when it has none. */
export function beginCall(_tx: RequestContext, call: Call, runId: string): ClaimedCall | null {
  if (!call.isOnLine) return null
  const { id: callId, assistantId, provider, providerCallId, phoneNumber, dynamicVariables: variables } = call
  const { dialedAt, answeredAt, maxDurationSeconds, conversation } = call
  return {
    runId,
    callId,
    assistantId,
    provider,
    providerCallId,
    phoneNumber,
    variables,
    dialedAt,
    answeredAt,
    maxDurationSeconds,
    conversation,
  }
}

/** Does the next step of a call: dials it, finds out whether it was dialed, plays it, or asks the provider how it stands. */
export async function followCall(lease: Lease<Call>, call: ClaimedCall): Promise<void> {
  const provider = providerOf(lease.context, call.provider)
  if (!provider) throw new VoiceFailure(`The voice provider "${call.provider}" is not configured`, true)
  if (!call.dialedAt) return dial(lease, call, provider)
  if (!call.providerCallId) return findDialed(lease, call, provider)
  if (provider.play) return void (await playCall(lease, call, provider))
  await poll(lease, call, provider)
}

export const providerOf = ({ services }: RequestContext, name: string) => services.voices.find((provider) => provider.name === name)

/** Finds out whether a call in doubt was dialed: it is never dialed again unless its provider knows all calls and not this one. */
async function findDialed(lease: Lease<Call>, call: ClaimedCall, provider: VoiceProvider): Promise<void> {
  const facts = await lookUp(lease, call, provider)
  if (facts?.providerCallId) return void (await lease.store((row, tx) => storeFacts(tx, row, facts)))
  if (!facts && provider.capabilities.exactLookUp) return dial(lease, call, provider)
  const overAt = call.dialedAt!.getTime() + callLimits.ringSeconds * 1000 + callLimits.doubtMs
  if (clock.now().getTime() < overAt) return askLater(lease)
  await presume(lease, "failed", "provider_error")
}

async function poll(lease: Lease<Call>, call: ClaimedCall, provider: VoiceProvider): Promise<void> {
  const facts = await lookUp(lease, call, provider)
  const now = clock.now().getTime()
  const answerBy = call.dialedAt!.getTime() + callLimits.ringSeconds * 1000 + callLimits.doubtMs
  const endBy = (call.answeredAt ?? call.dialedAt)!.getTime() + call.maxDurationSeconds * 1000 + callLimits.overdueMs
  if (facts && facts.state !== "dialing") {
    if (facts.state === "ended" || now < endBy) return void (await lease.store((row, tx) => storeFacts(tx, row, facts)))
  } else if (!call.answeredAt && now >= answerBy) return presume(lease, "no_answer", "no_answer")
  if (now < endBy) return askLater(lease)
  if (provider.capabilities.hangUp) await provider.hangUp(call.providerCallId!, requestSignal(lease))
  await presume(lease, "failed", "provider_error")
}

/** Asks the provider about a call; a provider that does not answer is asked again later. */
async function lookUp(lease: Lease<Call>, call: ClaimedCall, provider: VoiceProvider): Promise<CallFacts | null> {
  const { metrics } = lease.context.services
  const { log } = lease.context.request
  const end = metrics.voiceRequests.startTimer({ provider: provider.name, operation: "look_up" })
  try {
    const facts = await provider.lookUp(call, requestSignal(lease))
    end({ outcome: "ok" })
    if (!facts || !namesAnother(facts, call.callId)) return facts
    log.warn({ callId: call.callId, provider: provider.name, named: facts.callId }, "a voice provider answered with another call")
    return unknown(call)
  } catch (error) {
    end({ outcome: "failed" })
    if (!(error instanceof VoiceFailure)) throw error
    log.warn({ provider: provider.name, reason: error.message }, "a call could not be looked up")
    return unknown(call)
  }
}

/** What is known of a call whose provider says nothing about it, which is not the same as a call that it does not know. */
const unknown = ({ callId, providerCallId, answeredAt }: ClaimedCall): CallFacts => ({
  ...{ callId, providerCallId },
  state: answeredAt ? "in_progress" : "dialing",
  ...{ reference: null, ending: null, durationSeconds: null, replies: null },
})

const askLater = async (lease: Lease<Call>) => void (await lease.store(waitForNextLook))

/** Ends a call whose provider has not reported an end in time; a later report replaces that. */
const presume = async (lease: Lease<Call>, status: "failed" | "no_answer", endedReason: "provider_error" | "no_answer") =>
  void (await lease.store(async (call, tx) => {
    await endCall(tx, call, { status, endedReason, duration: null, isPresumed: true })
    await giveLines(tx, call.companyId)
  }))

/** Logs why a step failed. A call whose provider is gone, or refuses for good, ends. */
export function callFailure({ request: { log } }: RequestContext, error: unknown, { provider }: ClaimedCall): Failure {
  if (error instanceof VoiceFailure) {
    log.warn({ provider, reason: error.message }, "a step of a call failed")
    return error.isFinal ? { reason: error.message, tries: 1 } : { reason: error.message, retryAfterMs: error.retryAfterMs }
  }
  log.error({ err: error, provider }, "a step of a call failed")
  return { reason: "The call could not be continued" }
}

/** Ends a call that cannot be continued. */
export const giveCallUp = (call: Call) => {
  if (call.isOnLine) call.end({ status: "failed", endedReason: "provider_error", duration: null })
}
