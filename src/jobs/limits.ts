/** Limits that jobs/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const jobLimits = {
  /** How often a sweep looks for due indexings; ours. */
  indexingSweepSeconds: 2,
  /** Age after which a stored file without a row, or an unfinished upload, counts as left by a crash; ours. */
  strayFileSeconds: 60 * 60,
  /** Interval of the search for stray files; ours. */
  strayFileSweepSeconds: 6 * 60 * 60,
  /** How long records of turns are kept; ours, a quarter of a year. */
  turnRetentionSeconds: 90 * 24 * 60 * 60,
  /** Share of the turns of an instance that one company may have; ours. */
  turnCompanyShare: 3 / 4,
  /** Concurrent tasks of voice agents in a process, in all and per company; ours. */
  voiceSlots: { instance: 40, company: 30 },
  /** Calls that a process follows at once, in all and per company; ours. */
  callSlots: { instance: 100, company: 80 },
  /** How often a sweep looks for due work on calls, and for waiting calls; ours. */
  callSweepSeconds: 1,
  /** How often a sweep looks for due replies; ours. */
  replySweepSeconds: 1,
  /** Claims of a kind of work that an instance runs at once, so that requests always find a database connection; ours. */
  claimsAtOnce: 3,
  /** Most rows that one statement claims; ours. */
  claimBatch: 20,
  /** A turn of the event loop that takes longer is a busy one, in which no work begins; ours. */
  busyTurnMs: 5,
  /** Longest that work waits for a turn of the event loop that is not busy; ours. */
  busyWaitMs: 300,
  /** Time after which a sweep that still finds due work tries rows again that were locked; ours. */
  retryLockedMs: 1_000,
  /** Of the slots of a company, the share whose release starts a sweep for waiting work is 1 / this; ours. */
  sweepsOfSlots: 30,
  /** Longest timer of Node, which takes 2^31 - 1 ms. */
  longestTimerMs: 24 * 60 * 60_000,
  /** Maximum number of chats in which one sweep turns AI on again. */
  sweepBatch: 500,
  /** How often a sweep looks for due work on voice agents; ours. */
  voiceSweepSeconds: 10,
  /** Interval at which Agenda reads its table; a job that is due sooner runs on time. */
  agendaPollMs: 500,
  /** Concurrent jobs of one kind in a process. */
  agendaConcurrency: 50,
  /** Delay of a job after its due time. */
  agendaSlackMs: 5,
  /** Database connections of Agenda. */
  agendaConnections: 3,
  /** How long a statement of Agenda waits for a connection while the server starts, perhaps on a busy machine; ours. */
  agendaStartWaitMs: 30_000,
  /** Time after which Agenda gives up the lock of a killed process. */
  agendaLockMs: 10_000,
  /** The same for a job that only starts a sweep. */
  detachedLockMs: 1_000,
  /** Timeout to connect to MongoDB at start. */
  mongoConnectMs: 3_000,
  /** Interval of the deletion of expired rows. */
  retentionSeconds: 600,
  /** Rows deleted in one statement. */
  retentionBatch: 5_000,
  /** How long it is kept up to where a credential has written; far longer than a replica that is read may be behind; ours. */
  writePositionSeconds: 10 * 60,
  /** Longest rest between two batches of rows that are deleted; ours. */
  longestRestMs: 1_000,
  /** Messages deleted in one statement, which keeps their chats locked meanwhile: some tens of milliseconds; ours. */
  messageRetentionBatch: 200,
  /** Tool calls that lose their bodies in one statement; ours. */
  toolBodyBatch: 1_000,
  /** Age after which a pending tool call counts as lost with its server; ours, well above the longest timeout of a tool. */
  lostToolCallSeconds: 180,
  /** Interval of the search for lost tool calls; ours. */
  lostToolCallSweepSeconds: 30,
  /** Interval at which the server looks for chats whose stretches are still to be made of stored messages; ours. */
  rebuildStretchesSeconds: 10,
  /** Chats that are read at once for that; ours. */
  rebuildStretchesBatch: 100,
  /** Time that a sweep with much to do works before it leaves the rest to its next run; ours, half the life of the lock of its job. */
  sweepWorkMs: 5_000,
  /** Interval at which customers are asked for the ratings that are due; ours. */
  askRatingsSeconds: 5,
  /** Requests for ratings that are read at once; ours. */
  askRatingsBatch: 100,
  /** Interval at which questions without an answer are grouped; ours. */
  groupQuestionsSeconds: 10,
  /** Questions that are grouped at once; ours. */
  groupQuestionsBatch: 200,
  /** Interval at which the sums of outcomes are made for days that lack them; ours. */
  keepOutcomesSeconds: 10,
  /** Interval at which changes of numbers of chats are added to the numbers; ours. */
  addUpCountsSeconds: 5,
  /** Changes that are added up at once; ours. */
  addUpCountsBatch: 5_000,
  /** Interval of a sweep as a share of the time that it watches … */
  sweepShare: 1 / 10,
  /** … but at most this. */
  sweepMaxMs: 30_000,
  /** How long events can be resumed from. */
  eventRetentionSeconds: 24 * 60 * 60,
  /** How long deliveries of events to endpoints are kept. */
  eventDeliveryRetentionSeconds: 30 * 24 * 60 * 60,
  /** Files that are removed in one batch; ours. */
  mediaBatch: 100,
} as const
