import { createRequire } from "node:module"
import { basename } from "node:path"

/** A test file as Jest knows it; how long it took stands there when it was run before. */
interface Test {
  path: string
  duration?: number
}

const { default: Sequencer } = createRequire(import.meta.url)("@jest/test-sequencer") as {
  default: new (options: unknown) => { sort(tests: Test[]): Test[] }
}

/** Files that take longest, among them short ones that wait for processes. Left to the end, one would run alone. */
const long = [
  "contract",
  "tour",
  "eval",
  "embedded",
  "database",
  "inbox-races",
  "socket",
  "auto-resume",
  "knowledge-files",
  "admin",
  "tool-schema-processes",
]

/** Begins with the files that take longest: those that did in earlier runs, and where nothing is known yet, those above. */
export default class LongestFirst extends Sequencer {
  override sort(tests: Test[]): Test[] {
    const isLong = (test: Test) => test.duration === undefined && long.includes(basename(test.path, ".test.ts"))
    return super.sort(tests).toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  }
}
