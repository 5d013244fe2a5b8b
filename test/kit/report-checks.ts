import { writeFileSync } from "node:fs"
import type { Outcome } from "./second-try.js"

/**
 * Prints what a run of checks came to: what was skipped, what is flaky, why it failed, and the tally. With CHECKS_REPORT, the path of a
 * file, it is also written there, for the table of `.ci/run`.
 */
export function reportChecks(outcome: Outcome, print = (line: string) => void process.stdout.write(`${line}\n`)) {
  const { passed, failed, skipped, flaky, reasons } = outcome
  for (const { name, count } of skipped) print(`SKIPPED ${name}: ${count}`)
  for (const line of flaky) print(`FLAKY ${line}`)
  for (const reason of reasons) print(`FAILED ${reason}`)
  const all = skipped.reduce((sum, { count }) => sum + count, 0)
  print(`${passed} passed, ${failed} failed, ${all} skipped, ${flaky.length} flaky`)
  const path = process.env["CHECKS_REPORT"]
  if (path) writeFileSync(path, JSON.stringify(outcome))
}
