import { writeFileSync } from "node:fs"

/** What a run of checks came to; the line and the table at the end of `.ci/run` show it. */
export interface Outcome {
  passed: number
  failed: number
  /** What was not run, with its reason in the name: a campaign, or the tests of a file with their outermost title. */
  skipped: { name: string; count: number }[]
  /** What failed at first and passed when it was tried once more: `file › test: first error`. */
  flaky: string[]
  /** Why the run has failed, a sentence each; none when it has not. */
  reasons: string[]
}

/**
 * Prints what a run of checks came to: what was skipped, what is flaky, why it failed, and the tally. With CHECKS_REPORT, the path of a
 * file, it is also written there, for the table of `.ci/run`.
 */
export function reportChecks(outcome: Outcome, print: (line: string) => unknown = (line) => process.stdout.write(`${line}\n`)) {
  const { passed, failed, skipped, flaky, reasons } = outcome
  for (const { name, count } of skipped) print(`SKIPPED ${name}: ${count}`)
  for (const line of flaky) print(`FLAKY ${line}`)
  for (const reason of reasons) print(`FAILED ${reason}`)
  const all = skipped.reduce((sum, { count }) => sum + count, 0)
  print(`${passed} passed, ${failed} failed, ${all} skipped, ${flaky.length} flaky`)
  const path = process.env["CHECKS_REPORT"]
  if (path) writeFileSync(path, JSON.stringify(outcome))
}
