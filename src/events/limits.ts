/** Limits that events/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const eventLimits = {
  /** How long the sequencer waits for further commits before a batch when traffic is low. */
  eventBatchMs: 5,
  /** The longest such wait: one batch of many events costs the database a third of single ones. */
  eventBatchMaxMs: 50,
  /** Most events that get positions in one transaction, and that one read returns. */
  eventBatch: 500,
  /** How often the log is polled for events of crashed instances. */
  eventSweepMs: 1_000,
  /** Live events that may wait for a slow subscriber before it is closed with 1013. */
  subscriberBacklog: 1_000,
  /** Largest progress message as JSON; ours, since a PostgreSQL notification holds 8,000 bytes. */
  progressBytes: 7_500,
  /** How often an instance announces which chats have subscribers to progress; ours. */
  watchAnnouncementMs: 5_000,
  /** Most chats with subscribers to progress that an instance remembers; ours. */
  watchedChats: 10_000,
  /** Open sockets of a revoked credential are closed within this time; they are checked this often without a wake-up. */
  revokedSocketMs: 1_000,
} as const
