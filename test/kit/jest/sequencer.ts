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

/** Files that take longest. Left to the end, one would run alone. */
const long = [
  ...["contract", "inbox-races", "auto-resume", "socket-io-connections", "knowledge-files", "call-journey", "socket", "socket-io"],
  ...["secret-rotation-load", "tour", "inbox-pages-browser", "inbox-browser", "widget-browser", "database", "eval", "admin", "embedded"],
]

/** Begins with the files that take longest: those that did in earlier runs, and where nothing is known yet, those above. */
export default class LongestFirst extends Sequencer {
  override sort(tests: Test[]): Test[] {
    const isLong = (test: Test) => test.duration === undefined && long.includes(basename(test.path, ".test.ts"))
    return super.sort(tests).toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  }
}
