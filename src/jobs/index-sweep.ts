import { indexDue } from "../knowledge/indexing.js"
import { limits } from "../limits.js"
import type { Sweep } from "./kit/scheduler.js"

/** Takes every indexing that is due: what a crash, or a lost wake-up, left behind. */
export const indexSweep: Sweep = {
  name: "index-sweep",
  everySeconds: limits.indexingSweepSeconds,
  async run(services) {
    services.running.add(indexDue(services))
  },
}
