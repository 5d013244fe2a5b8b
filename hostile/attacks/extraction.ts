import { setTimeout as sleep } from "node:timers/promises"
import { wordDocument } from "../../test/kit/documents.js"
import { indexFile, secondsToIndex } from "../kit/indexing.js"
import type { Attack } from "./attack.js"

const limits = { seconds: 6, deadlineMs: 60_000 }

/** Documents of ten kilobytes that take long to read. */
export const extraction: Attack = {
  title: "eight small documents that take long to extract",
  isLoad: true,
  async run(bed, report) {
    // Repeated paragraphs are compressed to a thousandth.
    const bytes = wordDocument(Array.from({ length: 120_000 }, () => "x"))
    for (let n = 0; n < 8; n += 1) await indexFile(bed.server.url, bed.attacker, bytes, `document-${n}.docx`)
    await sleep(500)
    const seconds = await secondsToIndex(bed, limits.deadlineMs)
    report.note(`documents of ${(bytes.length / 1_000).toFixed(1)} KB; another company's text file was indexed in ${seconds.toFixed(1)} s`)
    await report.pace("another company's text file is indexed", seconds, limits.seconds, "s")
  },
}
