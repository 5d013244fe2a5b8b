import type { Outcome } from "../report-checks.js"
import type { Report } from "./report.js"

/** What all campaigns of a run found. */
export class Results implements Outcome {
  passed = 0
  failed = 0
  readonly skipped: { name: string; count: number }[] = []
  /** Paces that failed at the first attempt and held at the second. */
  readonly flaky: string[] = []
  readonly reasons: string[] = []

  /** Counts the findings of a campaign. */
  add({ title, findings, failed }: Report) {
    this.failed += failed.length
    this.passed += findings.length - failed.length
    this.reasons.push(...failed.map(({ name, faults }) => `${title} › ${name}: ${faults[0]?.split("\n")[0]}`))
  }

  /** Counts one check. */
  count(name: string, holds: boolean) {
    if (holds) this.passed += 1
    else {
      this.failed += 1
      this.reasons.push(name)
    }
  }

  /** Counts what was not run, with the reason. */
  skip(name: string) {
    this.skipped.push({ name, count: 1 })
  }
}

/**
 * Runs a campaign and counts its findings. One whose paces failed, and none of its promises, runs once more, since the machine may be to blame:
 * the second attempt counts. A promise that failed is final.
 */
export async function attempt(results: Results, run: () => Promise<Report>): Promise<Report> {
  const first = await run()
  first.print()
  const { title, failed } = first
  if (failed.length === 0 || failed.some(({ kind }) => kind === "promise")) {
    results.add(first)
    return first
  }
  process.stdout.write(`\n${title}: ${failed.length} failed at their pace alone; once more\n`)
  const second = await run()
  second.print()
  results.add(second)
  // Of a campaign that failed again nothing is flaky.
  if (second.failed.length === 0) results.flaky.push(...failed.map(({ name, faults }) => `${title} › ${name}: ${faults[0]}`))
  return second
}
