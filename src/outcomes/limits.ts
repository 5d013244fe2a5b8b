/** Limits that outcomes/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. */
export const outcomeLimits = {
  /** Earliest time of a report; ours, long before there was a stretch. */
  earliest: "2001-01-01T00:00:00Z",
  /** Longest period of a report in days; ours, three years. */
  periodDays: 1_100,
  /** Days of a report without a period; ours, four weeks. */
  periodDefaultDays: 28,
  /** Percentiles of the time until the first answer, in percent. */
  percentiles: { p50: 50, p95: 95 },
  /** Reports that a process has the database make at once, of its ten connections; ours. */
  reportsAtOnce: 2,
  /** A report that reads more stretches one by one asks for kept sums; ours. */
  stretchesReadAtOnce: 20_000,
  /** Age of a day in days from which its sums are kept: stretches rarely change later; ours. */
  keptAfterDays: 5,
  /** Days after which sums that no report asks for are deleted; ours. */
  keptUnusedDays: 60,
  /** Days whose sums one run makes before it looks whether the server stops; ours. */
  keptBatch: 30,
  /** Hours in which a customer can answer the question for a rating; ours, as long as a chat counts as reopened. */
  ratingHours: 72,
} as const
