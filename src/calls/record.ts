import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Call } from "../entities/call.js"
import type { CallReply } from "../entities/call-row.js"
import { clock } from "../entities/kit/clock.js"
import type { Failure } from "../entities/kit/work-state.js"
import type { Media } from "../entities/media.js"
import { VoiceFailure } from "../ports/voice.js"
import { callReadModel } from "../schema/call.js"
import { sendHooks } from "./hooks.js"
import { callLimits } from "./limits.js"
import { providerOf } from "./line.js"
import { fetchRecording, type RecordedCall } from "./recording.js"

/** An ended call whose record is completed, as its worker claimed it. */
export interface ClaimedRecord extends RecordedCall {
  runId: string
  isConnected: boolean
  isTranscribed: boolean
  /** What was said; null while the provider has not reported it. */
  heard: CallReply[] | null
  endedAt: Date
  isReported: boolean
  /** Whether a recording is missing and may still come. */
  wantsRecording: boolean
}

/** Claims the next step of completing a call's record; null when nothing is left to do. */
export function beginRecord(_tx: RequestContext, call: Call, runId: string): ClaimedRecord | null {
  if (!call.isEnded) return null
  const { id: callId, companyId, provider, providerCallId, status, heard, endedAt, reportedAt } = call
  const isConnected = call.duration !== null
  return {
    runId,
    callId,
    companyId,
    provider,
    providerCallId,
    isConnected,
    isTranscribed: status === "transcribed",
    heard: status === "transcribed" ? call.replies : heard,
    endedAt: endedAt!,
    isReported: reportedAt !== null,
    wantsRecording: isConnected && call.recordingId === null && call.recordingFailures < callLimits.recordingTries,
  }
}

/** Completes the record of an ended call: what was said, the recording, then the webhook_postcall tools. */
export async function completeRecord(lease: Lease<Call>, record: ClaimedRecord): Promise<void> {
  const { context } = lease
  const replies = await repliesOf(lease, record)
  const recording = record.wantsRecording ? await fetchRecording(lease, record, replies ?? []) : null
  const isKept = await keep(context, record, replies, recording)
  if (!isKept) return
  if (!record.isReported && !(await report(context, record))) return
  // A recording that failed is tried again after the pause of the schedule.
  if (recording === "failed" && isKept.mayRetry) throw new VoiceFailure("The recording could not be fetched")
  await lease.store(() => {})
}

/** What was said; null when the provider never reported it. Throws while it may still come. */
async function repliesOf(lease: Lease<Call>, record: ClaimedRecord): Promise<CallReply[] | null> {
  const { heard, isConnected, callId, providerCallId, endedAt, provider: name } = record
  if (heard || !isConnected) return heard
  const provider = providerOf(lease.context, name)
  const facts = provider && (await provider.lookUp({ callId, providerCallId }, signalOf(lease)))
  if (facts?.replies) return facts.replies
  if (provider && clock.now().getTime() < endedAt.getTime() + callLimits.transcriptMs)
    throw new VoiceFailure("The transcript of a call is not there yet")
  return null
}

const signalOf = (lease: Lease<Call>) => AbortSignal.any([lease.signal, AbortSignal.timeout(callLimits.providerMs)])

/** Stores what was said and the recording; null when the lease was lost. */
function keep(
  context: RequestContext,
  { callId, runId, isTranscribed }: ClaimedRecord,
  replies: CallReply[] | null,
  recording: Media | "failed" | null,
): Promise<{ mayRetry: boolean } | null> {
  return context.transaction(async (tx) => {
    const call = await tx.find(Call, callId)
    if (!call.record.holds(runId)) return null
    if (recording === "failed") call.recordingFailures += 1
    else if (recording) {
      tx.em.persist(recording)
      await tx.unit.flush()
      call.recordingId = recording.id
    }
    if (replies && !isTranscribed) call.transcribe(replies)
    return { mayRetry: call.recordingFailures < callLimits.recordingTries }
  })
}

/** Calls the webhook_postcall tools with the call's detail; false when the lease was lost. */
async function report(context: RequestContext, { callId, runId }: ClaimedRecord): Promise<boolean> {
  const { snapshotOf, represent } = context.services
  const row = await context.reader.byId(callReadModel, callId, snapshotOf("Call"))
  if (!row) return false
  const detail = represent("Call", row) as Record<string, unknown>
  const holds = (call: Call) => call.record.holds(runId)
  if (!(await sendHooks(context, callId, "webhook_postcall", detail, holds))) return false
  return context.transaction(async (tx) => {
    const call = await tx.find(Call, callId)
    if (!holds(call)) return false
    call.reportedAt = clock.now()
    return true
  })
}

/** Logs why a step failed; each is tried again until there is nothing more to wait for. */
export function recordFailure({ request: { log } }: RequestContext, error: unknown, { provider }: ClaimedRecord): Failure {
  if (!(error instanceof VoiceFailure)) {
    log.error({ err: error, provider }, "the record of a call could not be completed")
    return { reason: "The record could not be completed" }
  }
  log.info({ provider, reason: error.message }, "the record of a call waits for its provider")
  return { reason: error.message, retryAfterMs: error.retryAfterMs }
}
