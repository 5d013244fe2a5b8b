/** How long the assistant waits for the rest of a burst, and how an automatic hand-off ends, in milliseconds (specification, Limits). */
export interface ReplyTiming {
  replyDebounceMs: number
  replyMaxWaitMs: number
  autoResumeAfterMs: number
  contextWindowMs: number
}
