import type { CallEnd } from "../entities/call.js"
import type { CallEndedReason } from "../entities/kit/call-words.js"
import type { CallFacts } from "../ports/voice.js"
import { callLimits } from "./limits.js"

const busySip = [486, 600]
const noAnswerSip = [408, 480]

/** What the table needs to know of the call itself. */
interface CallSettings {
  maxDurationSeconds: number
  answeredAt: Date | null
}

/** A row of the table: whether it matches, and the end that it stands for. The first row that matches decides. */
interface Row {
  matches(facts: CallFacts & { ending: NonNullable<CallFacts["ending"]> }, call: CallSettings): boolean
  endedReason: CallEndedReason
  /** Status of a call that was not connected; a connected one is completed. */
  unconnected: CallEnd["status"]
}

const hasReason = (pattern: RegExp) => (facts: Parameters<Row["matches"]>[0]) => pattern.test(facts.ending.reason ?? "")

/** The ends of calls by the provider's words. */
const table: Row[] = [
  {
    matches: ({ ending }) => ending.failure === "busy" || busySip.includes(ending.sipStatus ?? 0),
    endedReason: "busy",
    unconnected: "busy",
  },
  {
    matches: (facts) =>
      facts.ending.failure === "no-answer" || noAnswerSip.includes(facts.ending.sipStatus ?? 0) || hasReason(/no answer - timeout/i)(facts),
    endedReason: "no_answer",
    unconnected: "no_answer",
  },
  {
    matches: (facts) =>
      facts.ending.failure !== null ||
      facts.ending.sipStatus !== null ||
      facts.ending.isError ||
      hasReason(/quota|conversation initialization failed/i)(facts),
    endedReason: "provider_error",
    unconnected: "failed",
  },
  { matches: hasReason(/end_call tool was called/i), endedReason: "assistant_hung_up", unconnected: "failed" },
  { matches: hasReason(/voicemail_detection tool was called/i), endedReason: "voicemail", unconnected: "failed" },
  { matches: hasReason(/remote party|client disconnected/i), endedReason: "customer_hung_up", unconnected: "failed" },
  { matches: hasReason(/seconds of silence/i), endedReason: "silence", unconnected: "failed" },
  {
    matches: ({ durationSeconds }, { maxDurationSeconds }) => (durationSeconds ?? 0) >= maxDurationSeconds - 1,
    endedReason: "max_duration",
    unconnected: "failed",
  },
  { matches: ({ durationSeconds }) => (durationSeconds ?? 0) > 0, endedReason: "customer_hung_up", unconnected: "failed" },
  { matches: () => true, endedReason: "provider_error", unconnected: "failed" },
]

/** Ends for which nobody has answered, whatever duration is reported. */
const neverConnected: readonly CallEndedReason[] = ["busy", "no_answer"]

/** The end that a report of the provider stands for; null before the end. */
export function endOf(facts: CallFacts, call: CallSettings): CallEnd | null {
  const { ending } = facts
  if (facts.state !== "ended" || !ending) return null
  // A call that was seen answered did not end for want of an answer, whatever is reported later.
  const isPossible = ({ endedReason }: Row) => !(call.answeredAt && neverConnected.includes(endedReason))
  const { endedReason, unconnected } = table.find((row) => isPossible(row) && row.matches({ ...facts, ending }, call))!
  const isConnected = !neverConnected.includes(endedReason) && hasTalked(facts, endedReason)
  if (!isConnected) return { status: unconnected, endedReason, duration: null }
  return { status: "completed", endedReason, duration: durationOf(facts, call) }
}

/** Whole seconds. The provider ends a call at its maximum: the company is not charged for more than the time that it may be late. */
const durationOf = ({ durationSeconds }: CallFacts, { maxDurationSeconds }: CallSettings) =>
  Math.min(Math.max(0, Math.round(durationSeconds ?? 0)), maxDurationSeconds + callLimits.overdueMs / 1000)

/** Whether the call was connected. Before an error, only words show that. */
const hasTalked = ({ durationSeconds, replies }: CallFacts, endedReason: CallEndedReason) =>
  endedReason === "provider_error" ? Boolean(replies?.length) : (durationSeconds ?? 0) > 0 || Boolean(replies?.length)
