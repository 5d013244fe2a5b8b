/** How long the assistant waits for the rest of a burst, in milliseconds (specification, Limits). */
export interface ReplyTiming {
  replyDebounceMs: number
  replyMaxWaitMs: number
}
