import type { Lease } from "../context/lease.js"
import { quotaLeft } from "../context/media-quota.js"
import type { Call } from "../entities/call.js"
import type { CallReply } from "../entities/call-row.js"
import { Media } from "../entities/media.js"
import { ApiError } from "../errors/errors.js"
import { receiveContent } from "../media/upload.js"
import { VoiceFailure } from "../ports/voice.js"
import { callLimits } from "./limits.js"
import { providerOf } from "./line.js"

/** A call whose recording is wanted. */
export interface RecordedCall {
  callId: string
  companyId: string
  provider: string
  providerCallId: string | null
}

/** Fetches the recording of a call into the storage of files; null when there is none, and "failed" when another try may find it. */
export async function fetchRecording(lease: Lease<Call>, record: RecordedCall, replies: CallReply[]): Promise<Media | "failed" | null> {
  const { context } = lease
  const { callId, providerCallId, companyId } = record
  const { services, request } = context
  const provider = providerOf(context, record.provider)
  if (!provider) return null
  const signal = AbortSignal.any([lease.signal, AbortSignal.timeout(callLimits.providerMs)])
  try {
    const recording = await provider.recording({ callId, providerCallId, replies }, signal)
    if (!recording) return null
    const left = await quotaLeft(context, companyId)
    await using arrived = await receiveContent(services.arrivals, recording.filename, recording.content, left)
    const media = Media.arrived(companyId, arrived)
    media.attach()
    await services.storage.put(media.storageKey, arrived.path)
    return media
  } catch (error) {
    if (!(error instanceof VoiceFailure || error instanceof ApiError)) throw error
    request.log.warn({ provider: record.provider, reason: error.message }, "the recording of a call could not be fetched")
    return "failed"
  }
}
