/** Limits that channels/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const channelLimits = {
  /** Life of a widget visitor's token, from its last use. */
  visitorTokenSeconds: 30 * 24 * 60 * 60,
  /** Largest file of a widget's visitor. */
  visitorFileBytes: 10 * 1024 * 1024,
  /** Files that a widget's visitor may upload … */
  visitorFilesPerDay: 20,
  /** … in this time. */
  visitorDayMs: 24 * 60 * 60_000,
  /** Largest request to a hook. */
  hookBytes: 3 * 1024 * 1024,
  /** Pause before the second attempt of a delivery; it doubles with each failure … */
  deliveryRetryBaseMs: 1_000,
  /** … up to this. */
  deliveryRetryMaxMs: 5 * 60_000,
  /** Time after which a queued message has failed. */
  deliveryExpiryMs: 24 * 60 * 60_000,
  /** An hour, the unit of a channel's window. */
  hourMs: 60 * 60_000,
  /** Wait for a status of a message whose sending is in doubt. */
  doubtWaitMs: 15_000,
  /** Lease of a delivery: a worker that does not renew it counts as lost; ours. */
  deliveryLeaseMs: 15_000,
  /** Interval at which the lease is renewed; ours. */
  deliveryRenewMs: 5_000,
  /** Deliveries that an instance runs at once; ours: nearly all of them wait for a vendor. */
  deliverySlots: { instance: 100, company: 60 },
  /** Statements of a connection that an instance runs at once to keep to the vendor's rate: they change the same row; ours. */
  slotStatements: 1,
  /** How often a sweep looks for due deliveries; ours. */
  deliverySweepSeconds: 1,
  /** Life of the URL of a file that a bridge gets. */
  bridgeUrlSeconds: 7 * 24 * 60 * 60,
  /** How long a receipt, an edit or a deletion is kept that came before its message. */
  earlyItemMs: 24 * 60 * 60_000,
  /** How long an event is kept that was not understood. */
  unsupportedItemMs: 30 * 24 * 60 * 60_000,
  /** Tries to fetch a file or the content of a mail. */
  fetchTries: 3,
  /** Pause before the second try; it doubles; ours. */
  fetchRetryBaseMs: 2_000,
  /** Time for one try, in milliseconds. */
  fetchMs: 60_000,
  /** Lease of such work; ours. */
  fetchLeaseMs: 15_000,
  fetchRenewMs: 5_000,
  fetchSlots: { instance: 20, company: 10 },
  fetchSweepSeconds: 2,
  /** Interval at which the customer is shown again that an answer is coming: Telegram shows it for 5 s, others longer; ours. */
  typingEveryMs: 4_000,
  /** Lost workers after which a file is given up; ours. */
  fetchLosses: 5,
  /** Tries to handle what waits; ours: with the pauses about half an hour. */
  itemTries: 12,
  /** Longest pause between polls that fail. */
  pollRetryMaxMs: 60_000,
  /** Polls that an instance runs at once; ours: nearly all of them wait for their vendor. */
  pollSlots: { instance: 500, company: 50 },
  /** Items of a request that are stored at once; further ones wait for the turn of their company, since a request may report thousands; ours. */
  itemsWithoutTurn: 20,
  /** Requests of a connection's hook that an instance handles at once; ours: its limit of requests a minute is reached with fewer. */
  hookRequestsAtOnce: 2,
  /** Requests of a connection's hook that wait; ours: further ones are 429, and their vendor sends them again. */
  hookRequestsWaiting: 500,
  /** Size of the bodies of such requests, those that are handled with them; ours. */
  hookQueueBytes: 16 * 1024 * 1024,
  /** Connections of a messenger among which that of another account of the same application is searched; ours. */
  siblings: 200,
  /** Wait until the echo of a message is handled while a message of its chat is being sent; ours. */
  echoWaitMs: 2_000,
  /** `lastInboundAt` is written at most once in this time; ours. */
  lastInboundEveryMs: 60_000,
} as const
