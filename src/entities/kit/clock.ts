let offsetMs = 0
let stoppedAt: number | undefined

/** The clock of all domain rules; a test can move it instead of waiting. */
export const clock = {
  now: () => new Date(stoppedAt ?? Date.now() + offsetMs),
  /** Moves the clock forward; for tests. */
  advance(ms: number) {
    if (stoppedAt === undefined) offsetMs += ms
    else stoppedAt += ms
  },
  /** Stops the clock, which then only `advance` moves; for tests. */
  stop() {
    stoppedAt = clock.now().getTime()
  },
  /** Returns to the system time; for tests. */
  reset() {
    offsetMs = 0
    stoppedAt = undefined
  },
}
