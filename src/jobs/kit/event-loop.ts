import { setImmediate as afterIo } from "node:timers/promises"
import { jobLimits } from "../limits.js"

/**
 * Waits for the next turn of the event loop, and for further ones while they are long: work that would begin leaves the CPU to requests and to
 * work that has begun. Ends after `busyWaitMs` in any case, so that requests cannot keep work back.
 */
export async function loopKeepsUp(): Promise<void> {
  const begin = performance.now()
  for (let before = begin, now = before; ; before = now) {
    await afterIo()
    now = performance.now()
    if (now - before <= jobLimits.busyTurnMs || now - begin >= jobLimits.busyWaitMs) return
  }
}
