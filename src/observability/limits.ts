/** The times of what is measured of the process. */
export const observabilityLimits = {
  /** A reading of the longest turns covers this time at least, and twice this time at most. */
  turnPeriodMs: 30_000,
} as const
