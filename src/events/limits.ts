/** Every number of the specification and of the contract that events/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const eventLimits = {
  /** How long the sequencer gathers commits into one batch when little happens … */
  eventBatchMs: 5,
  /** … and at most, when much does: placing many events at once costs the database a third of placing them one by one. */
  eventBatchMaxMs: 50,
  /** Most events that get their places in one transaction, and that a reader takes at once. */
  eventBatch: 500,
  /** How often the sequencer looks for events that an instance left behind. */
  eventSweepMs: 1_000,
  /** Live events that may wait for a slow subscriber before it is closed with 1013. */
  subscriberBacklog: 1_000,
  /** Most of an answer that is told while it is being made, as JSON; ours, since PostgreSQL notifies in at most 8,000 bytes. */
  progressBytes: 7_500,
  /** How often an instance says which chats are watched; ours. */
  watchSignMs: 5_000,
  /** Watched chats that an instance remembers; ours. */
  watchedChats: 10_000,
  /** Open sockets of a revoked credential are closed within this time; they are looked up this often when no wake-up came. */
  revokedSocketMs: 1_000,
} as const
