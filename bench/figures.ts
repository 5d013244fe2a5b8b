import type { Measurement } from "./measure.js"

/** The median; of none, NaN. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** What was measured of a contestant under a workload in a round: its other properties are figures. */
type Measured = { workload: string; contestant: string; perSecond: number }
type Figure<M> = { [Key in keyof M]: M[Key] extends number ? Key : never }[keyof M]

/** The figures of a phase, by workload and contestant. */
export class Figures<M extends Measured = Measurement> {
  constructor(private readonly all: M[]) {}

  /** Who was measured, in the order of the first round. */
  get contestants(): M["contestant"][] {
    return [...new Set(this.all.map(({ contestant }) => contestant))]
  }

  private of(workload: M["workload"], contestant: M["contestant"], figure: Figure<M>): number[] {
    return this.all.filter((each) => each.workload === workload && each.contestant === contestant).map((each) => each[figure] as number)
  }

  /** Median over the rounds. */
  median(workload: M["workload"], contestant: M["contestant"], figure: Figure<M>) {
    return median(this.of(workload, contestant, figure))
  }

  /** The figure of the first round. */
  first(workload: M["workload"], contestant: M["contestant"], figure: Figure<M>) {
    return this.of(workload, contestant, figure)[0]!
  }

  /** Median of the rounds' ratios: a disturbance of a whole round affects both sides. */
  ratio(a: [M["workload"], M["contestant"]], b: [M["workload"], M["contestant"]], figure = "perSecond" as Figure<M>) {
    const others = this.of(...b, figure)
    return median(this.of(...a, figure).map((each, round) => each / others[round]!))
  }
}

/** A table in plain text; all but the first columns are numbers. */
export function tableOf(rows: string[][], textColumns = 1): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const cell = (text: string, column: number) => (column < textColumns ? text.padEnd(widths[column]!) : text.padStart(widths[column]!))
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n")
}
