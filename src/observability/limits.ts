/** The times of what is measured of the process. */
export const observabilityLimits = {
  /** A reading of the longest turns covers this time at least, and twice this time at most. */
  turnPeriodMs: 30_000,
  /** The event loop's delay is measured so often, and has this time in it. */
  loopResolutionMs: 10,
} as const
