let offsetMs = 0

/** The time that every rule reads, so that a test can move it instead of waiting. */
export const clock = {
  now: () => new Date(Date.now() + offsetMs),
  /** Moves the time of this process forward by so many milliseconds; for tests. */
  advance(ms: number) {
    offsetMs += ms
  },
}
