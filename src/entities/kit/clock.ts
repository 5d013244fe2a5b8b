let offsetMs = 0
let stoppedAt: number | undefined

/** The time that every rule reads, so that a test can move it instead of waiting. */
export const clock = {
  now: () => new Date(stoppedAt ?? Date.now() + offsetMs),
  /** Moves the time of this process forward by so many milliseconds; for tests. */
  advance(ms: number) {
    if (stoppedAt === undefined) offsetMs += ms
    else stoppedAt += ms
  },
  /** Stops the time of this process: from here on only `advance` moves it; for tests. */
  stop() {
    stoppedAt = clock.now().getTime()
  },
  /** Back to the time of the machine; for tests. */
  reset() {
    offsetMs = 0
    stoppedAt = undefined
  },
}
