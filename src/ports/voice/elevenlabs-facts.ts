import { portLimits } from "../limits.js"
import type { CallEnding, CallFacts, CallReportFacts, VoiceReply } from "../voice.js"

// biome-ignore lint/suspicious/noExplicitAny: a vendor's JSON, read field by field.
type Json = any

// A map, which has no other keys, and for which a status of another type is an unknown one.
const states = new Map<unknown, CallFacts["state"]>([
  ["initiated", "dialing"],
  ["in-progress", "in_progress"],
  // The call is over, but its reason and its words are not there yet.
  ["processing", "in_progress"],
  ["done", "ended"],
  ["failed", "ended"],
])

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)
/** An ID, which is short and printable: others cannot be stored or indexed, and no call has them. */
const idOf = (value: unknown) =>
  typeof value === "string" && value.length <= portLimits.voiceIdCharacters && /^[\x20-\x7e]+$/.test(value) ? value : null
const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : null)

/** What a conversation of ElevenLabs says about its call. */
export function factsOf(conversation: Json): CallFacts {
  const { status, metadata = {}, transcript } = conversation
  const state = states.get(status) ?? "in_progress"
  const ending: CallEnding = {
    failure: null,
    sipStatus: null,
    reason: textOf(metadata?.termination_reason),
    isError: status === "failed" || metadata?.error != null,
  }
  return {
    callId: idOf(conversation.user_id) ?? idOf(conversation.conversation_initiation_client_data?.user_id),
    providerCallId: idOf(conversation.conversation_id),
    reference: idOf(metadata?.phone_call?.call_sid),
    state,
    ending: state === "ended" ? ending : null,
    durationSeconds: numberOf(metadata?.call_duration_secs),
    replies: state === "ended" ? repliesOf(Array.isArray(transcript) ? transcript : []) : null,
  }
}

/** The replies of a transcript; a reply ends when the next one begins. */
function repliesOf(transcript: Json[]): VoiceReply[] {
  const said = transcript.filter((item) => textOf(item?.message)?.trim())
  return said.map((item, index) => ({
    role: item.role === "user" ? "customer" : "agent",
    text: item.message,
    startSeconds: numberOf(item.time_in_call_secs),
    endSeconds: numberOf(said[index + 1]?.time_in_call_secs),
  }))
}

/** Reads a post-call webhook; null for one that says nothing about the state of a call. */
export function reportOf({ type, data }: Json): CallReportFacts | null {
  const providerCallId = idOf(data?.conversation_id)
  if (!providerCallId) return null
  if (type === "post_call_transcription") return { ...factsOf({ status: "done", ...data }), providerCallId, kind: type }
  if (type !== "call_initiation_failure") return null
  const body = data.metadata?.body ?? {}
  return {
    callId: idOf(data.user_id),
    providerCallId,
    reference: idOf(body.CallSid) ?? idOf(body.call_sid) ?? idOf(body.sip_call_id),
    state: "ended",
    ending: { failure: textOf(data.failure_reason) ?? "unknown", sipStatus: numberOf(body.sip_status_code), reason: null, isError: true },
    durationSeconds: null,
    replies: [],
    kind: type,
  }
}
