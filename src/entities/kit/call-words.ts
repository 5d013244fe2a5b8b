import { words } from "./words.js"

/** Status of a call; `callTransitions` has the changes. */
export const CallStatusEnum = words("CallStatus", "Status of a call.", {
  queued: "It was accepted and waits for a free line.",
  dialing: "It has a line, and the customer is being called.",
  in_progress: "The customer has answered.",
  completed: "It was connected and has ended.",
  transcribed: "It was connected and has ended, and its replies are stored.",
  no_answer: "The customer did not answer.",
  busy: "The customer's line was busy.",
  failed: "It could not be made, or broke off before a word was spoken; see endedReason.",
  not_dialed: "No line became free in time; it was not dialed and never will be.",
})
export type CallStatus = (typeof CallStatusEnum)[string]
export const callStatuses = Object.values(CallStatusEnum)

/** Why a call ended. */
export const CallEndedReasonEnum = words("CallEndedReason", "Why a call ended.", {
  customer_hung_up: "The customer hung up.",
  assistant_hung_up: "The assistant hung up.",
  no_answer: "The customer did not answer.",
  busy: "The customer's line was busy.",
  voicemail: "A voicemail answered.",
  silence: "The customer was silent for longer than silenceTimeoutSeconds.",
  max_duration: "The call reached maxDurationSeconds.",
  queue_timeout: "No line became free in time.",
  provider_error: "The voice provider refused the call, or failed.",
  cancelled: "The server ended the call, or the company had no subscription, balance or assistant for it any more.",
})
export type CallEndedReason = (typeof CallEndedReasonEnum)[string]

/** Where a call was requested. */
export const CallSourceEnum = words("CallSource", "Where a call was requested.", {
  api: "With an access token.",
  dashboard: "By a signed-in user.",
  inbound: "The customer called. There are no such calls yet.",
})
export type CallSource = (typeof CallSourceEnum)[string]
export const callSources = Object.values(CallSourceEnum)

/** The statuses that may follow each status. An answer and an end that are seen at once pass `in_progress` in between. */
export const callTransitions: Record<CallStatus, readonly CallStatus[]> = {
  queued: ["dialing", "not_dialed", "failed"],
  dialing: ["queued", "in_progress", "no_answer", "busy", "failed"],
  in_progress: ["completed", "failed"],
  completed: ["transcribed"],
  transcribed: [],
  no_answer: [],
  busy: [],
  failed: [],
  not_dialed: [],
}

/** Statuses in which a call occupies a line. */
export const onLine: readonly CallStatus[] = ["dialing", "in_progress"]
