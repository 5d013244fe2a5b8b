/** Times of replies, of the model's context and of the automatic return of AI, in milliseconds (specification, Limits). */
export interface ReplyTiming {
  replyDebounceMs: number
  replyMaxWaitMs: number
  autoResumeAfterMs: number
  contextWindowMs: number
}
