import { judgedPace, type PaceUnit, paceFactor } from "../pace.js"
import { printed } from "../reference.js"

/** What a campaign found out: a promise holds at any speed of the machine; a pace depends on it. */
export interface Finding {
  kind: "promise" | "pace"
  name: string
  /** Everything that contradicts it; none: it holds. */
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

  /** Records what has to hold at any speed: nothing is lost, doubled, out of order, another company's, a 5xx; it holds without faults. */
  promise(name: string, faults: string[]) {
    this.#find({ kind: "promise", name, faults })
  }

  /** Records how long something took, judged beside the speed of the machine: it fails beyond four times its bound on a machine of that speed. */
  async pace(name: string, value: number, bound: number, unit: PaceUnit = "ms") {
    const { ratio, reference } = await judgedPace(value, bound, unit)
    const shown = Number.isFinite(value) ? Number(value.toPrecision(3)) : value
    const machine = unit === "times" ? "" : `, ${printed(reference)}`
    const line = `${shown} ${unit}, bound ${bound} ${unit}, ratio ${ratio.toFixed(2)}${machine}`
    if (ratio <= paceFactor()) return this.#find({ kind: "pace", name: `${name}: ${line}`, faults: [] })
    this.#find({ kind: "pace", name, faults: [line] })
  }

  /** Records how much of something came about in the time that it had, as a pace: on a slow machine there may be less of it, but never nothing. */
  reached(name: string, count: number, wanted: number) {
    return this.pace(`${name} (${count} of ${wanted})`, wanted === 0 ? 0 : wanted / Math.max(count, 0), 1, "times less")
  }

  get failed(): Finding[] {
    return this.findings.filter(({ faults }) => faults.length > 0)
  }

  #find(finding: Finding) {
    const { name, faults } = finding
    this.findings.push(finding)
    this.note(`${faults.length === 0 ? "ok  " : "FAIL"} ${name}`)
    for (const fault of faults.slice(0, 8)) this.note(`       ${fault}`)
    if (faults.length > 8) this.note(`       … and ${faults.length - 8} more`)
  }
}

/** How often each word occurs: `12 model, 3 answer`. */
export function tally(words: string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, times]) => `${times} ${word}`).join(", ")
}

/** The greatest of some times, in milliseconds; 0 of none. */
export const longest = (times: number[]) => Math.max(0, ...times)

/** The greatest of some times, in seconds, as text. */
export const worst = (times: number[]) => `${(longest(times) / 1000).toFixed(1)} s`
