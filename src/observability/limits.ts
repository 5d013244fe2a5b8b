/** The times of what is measured of the process. */
export const observabilityLimits = {
  /** A reading of the longest turns covers this time at least, and twice this time at most. */
  turnPeriodMs: 30_000,
  /** How long a scrape waits for a service; ours, with the database's own limits within Prometheus's timeout of 10 s. */
  serviceAnswerMs: 3_000,
} as const
