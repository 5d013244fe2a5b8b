/** Limits that event-webhooks/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const eventWebhookLimits = {
  /** Endpoints of a company. */
  perCompany: 50,
  /** Requests to an endpoint at once … */
  concurrency: 5,
  /** … and after this many failures in a row one at a time. */
  failuresUntilSlow: 5,
  /** Timeout of a request, from the DNS lookup to the last byte. */
  timeoutMs: 15_000,
  /** What is read and kept of a response. */
  responseBytes: 4 * 1024,
  /** Events of the log for which deliveries are made in one transaction; ours. */
  fanOutBatch: 500,
  /** How often the log is looked at without a wake-up; ours. */
  fanOutSweepMs: 1_000,
  /** Lease on an endpoint: a worker that does not renew it counts as lost; ours. */
  leaseMs: 20_000,
  /** Interval of its renewal; ours. */
  renewMs: 5_000,
  /** Endpoints that an instance serves at once, in all and per company; ours. */
  slots: { instance: 300, company: 60 },
  /** How often a sweep looks for endpoints with due deliveries; ours. */
  sweepSeconds: 2,
  /** How often new deliveries are looked for while a request to the endpoint is under way; ours. */
  lookMs: 250,
  /** How long an endpoint is served until others that wait for a slot come first; ours. */
  turnMs: 10_000,
  /** Pause after a fault of this server; it doubles with each … */
  faultPauseMs: 1_000,
  /** … up to this; ours. */
  faultPauseMaxMs: 60_000,
  /** Deliveries that are requested again in one transaction; ours. */
  redeliverBatch: 1_000,
} as const
