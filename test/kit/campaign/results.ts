import type { Report } from "./report.js"

/** What all campaigns of a run found. */
export class Results {
  passed = 0
  failed = 0
  /** What was not run, with the reason. */
  readonly skipped: string[] = []
  /** Paces that failed at the first attempt and held at the second. */
  readonly flaky: string[] = []

  /** Counts the findings of a campaign. */
  add({ findings, failed }: Report) {
    this.failed += failed.length
    this.passed += findings.length - failed.length
  }

  /** Counts one check. */
  count(holds: boolean) {
    if (holds) this.passed += 1
    else this.failed += 1
  }

  /** The last lines of a run. */
  get lines(): string[] {
    return [
      ...this.flaky.map((each) => `FLAKY ${each}`),
      ...this.skipped.map((each) => `skipped: ${each}`),
      `${this.flaky.length} flaky`,
      `${this.passed} passed, ${this.failed} failed, ${this.skipped.length} skipped`,
    ]
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
