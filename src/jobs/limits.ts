/** Every number of the specification and of the contract that jobs/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const jobLimits = {
  /** How often a sweep looks for due indexings; ours. */
  indexingSweepSeconds: 2,
  /** A stored file without a row, and an unfinished upload, are a crash's after this time; ours. */
  strayFileSeconds: 60 * 60,
  /** How often the storage is looked through for those; ours. */
  strayFileSweepSeconds: 6 * 60 * 60,
  /** How long the cost of a turn is kept; ours, a quarter of a year. */
  turnRetentionSeconds: 90 * 24 * 60 * 60,
  /** Turns that a process takes at once, in all and for one company; ours: a turn waits for its model nearly all of its time. */
  turnSlots: { instance: 200, company: 150 },
  /** Voice agents that a process works on at once, in all and for one company; ours. */
  voiceSlots: { instance: 40, company: 30 },
  /** How often a sweep looks for due replies. */
  replySweepSeconds: 2,
  /** Most chats that one look gives back to their assistants. */
  sweepBatch: 500,
  /** How often a sweep looks for due work on voice agents; ours. */
  voiceSweepSeconds: 10,
  /** How often Agenda reads its table; a job within this time is run at its own instant. */
  clockTickMs: 1_000,
  /** Jobs of one kind that run at once in a process. */
  clockConcurrency: 50,
  /** How much later than its due time a job is run. */
  clockSlackMs: 5,
  /** Database connections of Agenda. */
  clockConnections: 3,
  /** How long Agenda believes a job to be running whose process is gone. */
  clockLockMs: 10_000,
  /** How long MongoDB may take to answer at start. */
  mongoConnectMs: 3_000,
  /** How often what is kept for a time only is cleared away. */
  retentionSeconds: 600,
  /** Rows cleared away in one statement. */
  retentionBatch: 5_000,
  /** A call that is pending for so long was lost with its server; ours, well behind the longest timeout of a tool. */
  lostToolCallSeconds: 180,
  /** How often those are looked for; ours. */
  lostToolCallSweepSeconds: 30,
  /** A sweep looks at least once in this share of the time that it watches … */
  sweepShare: 1 / 10,
  /** … and at least this often. */
  sweepMaxMs: 30_000,
  /** How long events can be resumed from. */
  eventRetentionSeconds: 24 * 60 * 60,
  /** Files that are removed together; ours. */
  mediaBatch: 100,
} as const
