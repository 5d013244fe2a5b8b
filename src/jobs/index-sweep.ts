import { indexDue } from "../knowledge/indexing.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

/** Takes every indexing that is due: what a crash, or a lost wake-up, left behind. */
export const indexSweep: Sweep = {
  name: "index-sweep",
  everySeconds: jobLimits.indexingSweepSeconds,
  async run(services) {
    services.running.add(indexDue(services))
  },
}
