/** What a campaign found out. */
export interface Finding {
  check: string
  /** Everything that contradicts the check; none: it holds. */
  faults: string[]
}

/** What one campaign did and found; printed when it is done, since campaigns run at once. */
export class Report {
  readonly findings: Finding[] = []
  readonly #lines: string[] = []

  constructor(readonly title: string) {}

  /** Says what was done, with numbers. */
  note(line: string) {
    this.#lines.push(`  ${line}`)
  }

  print() {
    process.stdout.write(`\n${this.title}\n${this.#lines.join("\n")}\n`)
  }

  /** A check holds when nothing contradicts it. */
  check(check: string, faults: string[]) {
    this.findings.push({ check, faults })
    this.note(`${faults.length === 0 ? "ok  " : "FAIL"} ${check}`)
    for (const fault of faults.slice(0, 8)) this.note(`       ${fault}`)
    if (faults.length > 8) this.note(`       … and ${faults.length - 8} more`)
  }

  get failed(): Finding[] {
    return this.findings.filter(({ faults }) => faults.length > 0)
  }
}

/** How often each word occurs: `12 model, 3 answer`. */
export function tally(words: string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, times]) => `${times} ${word}`).join(", ")
}

/** The greatest of some times, in seconds. */
export const worst = (times: number[]) => `${(Math.max(0, ...times) / 1000).toFixed(1)} s`
