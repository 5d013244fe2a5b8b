import { setTimeout as sleep } from "node:timers/promises"
import { jobLimits } from "../limits.js"

/** Runs a batch of work that nobody waits for, and rests for as long as it took, so that requests have the other half of the database's time. */
export async function unhurried<T>(batch: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await batch()
  await sleep(Math.min(performance.now() - begun, jobLimits.longestRestMs))
  return result
}
