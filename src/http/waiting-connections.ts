import type { Server } from "node:http"
import { setImmediate as afterIo } from "node:timers/promises"
import { httpLimits } from "./limits.js"

/**
 * Accepts the connections that wait, and resolves at a moment when none does: when a server closes, the system resets those that wait, and a
 * proxy does not send their POST requests again. What arrives between the last look and the close is still lost, so that the moment has to be
 * one in which the process does nothing else.
 */
export async function acceptWaiting(http: Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted += 1
  }
  http.on("connection", count)
  const until = performance.now() + httpLimits.acceptAtStopMs
  // The rest of the round in which this was called accepts nothing.
  await afterIo()
  for (;;) {
    const [before, begin] = [accepted, performance.now()]
    // A whole round of the event loop, which accepts a connection if one waits.
    await afterIo()
    const now = performance.now()
    if (now > until || (accepted === before && now - begin < httpLimits.idleRoundMs)) break
  }
  http.off("connection", count)
}
