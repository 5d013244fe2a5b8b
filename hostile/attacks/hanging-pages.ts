import { setTimeout as sleep } from "node:timers/promises"
import { openSite } from "../../test/kit/site.js"
import { indexItem, secondsToIndex } from "../kit/indexing.js"
import type { Attack } from "./attack.js"

const limits = { seconds: 10, deadlineMs: 60_000 }

/** Pages that never answer. */
export const hangingPages: Attack = {
  title: "60 pages that hang",
  async run(bed, report) {
    const site = await openSite()
    site.pages["/hangs"] = () => {}
    try {
      for (let n = 0; n < 60; n += 1) await indexItem(bed.server.url, bed.attacker, { kind: "url", resourceUrl: `${site.url}/hangs` })
      await sleep(1_000)
      const seconds = await secondsToIndex(bed, limits.deadlineMs)
      report.note(`another company's text file was indexed in ${seconds.toFixed(1)} s`)
      await report.pace("another company's text file is indexed meanwhile", seconds, limits.seconds, "s")
    } finally {
      await site.close()
    }
  },
}
