import type { Measurement } from "./measure.js"
import type { Workload } from "./options.js"
import type { Contestant } from "./requests.js"

/** The median. */
function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

type Figure = keyof Omit<Measurement, "contestant" | "workload" | "round">

/** The figures of a phase, by workload and contestant. */
export class Figures {
  constructor(private readonly all: Measurement[]) {}

  private of(workload: Workload, contestant: Contestant) {
    return this.all.filter((each) => each.workload === workload && each.contestant === contestant)
  }

  /** Median over the rounds. */
  median(workload: Workload, contestant: Contestant, figure: Figure) {
    return median(this.of(workload, contestant).map((each) => each[figure]))
  }

  /** The figure of the first round. */
  first(workload: Workload, contestant: Contestant, figure: Figure) {
    return this.of(workload, contestant)[0]![figure]
  }

  /** Median of the rounds' ratios: a disturbance of a whole round affects both sides. */
  ratio(a: [Workload, Contestant], b: [Workload, Contestant], figure: Figure = "perSecond") {
    const others = this.of(...b)
    return median(this.of(...a).map((each, round) => each[figure] / others[round]![figure]))
  }
}

/** A table in plain text; all but the first columns are numbers. */
export function tableOf(rows: string[][], textColumns = 1): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const cell = (text: string, column: number) => (column < textColumns ? text.padEnd(widths[column]!) : text.padStart(widths[column]!))
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n")
}
