import { addUpCounts } from "../chats/kept-counts.js"
import { unscoped } from "../database/unscoped.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** Adds the changes of numbers of chats to the numbers. Until then each count reads the changes too, so that it is exact at any time. */
export const addUpChatCounts: Sweep = {
  name: "add-up-chat-counts",
  everySeconds: jobLimits.addUpCountsSeconds,
  async run({ database, stopping }) {
    const ends = AbortSignal.any([stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    while (!ends.aborted) {
      const [added] = await unscoped(database, addUpCounts, [jobLimits.addUpCountsBatch])
      if (added!.count < jobLimits.addUpCountsBatch) return
    }
  },
}
