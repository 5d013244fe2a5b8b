import type { Measurement } from "./measure.js"
import type { Workload } from "./options.js"
import { type Contestant, contestants } from "./requests.js"

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const titles: Record<Workload, string> = {
  W5: "W5 create a message",
  W1: "W1 the 50 latest chats with last message, assistant, folder and tags",
  W2: "W2 the 30 newest messages of a chat with the quoted ones",
  W6: "W6 a page of W1 far down the list, by cursor",
}

/** The figures of a run, asked by workload and contestant. */
export class Figures {
  constructor(private readonly all: Measurement[]) {}

  private of(workload: Workload, contestant: Contestant) {
    return this.all.filter((each) => each.workload === workload && each.contestant === contestant)
  }

  /** Median over the rounds. */
  median(workload: Workload, contestant: Contestant, figure: keyof Omit<Measurement, "contestant" | "workload">) {
    return median(this.of(workload, contestant).map((each) => each[figure]))
  }

  /** Median of the rounds' ratios: what disturbs a whole round disturbs both sides. */
  ratio(a: [Workload, Contestant], b: [Workload, Contestant], figure: "perSecond" | "serverCpu" = "perSecond") {
    const others = this.of(...b)
    return median(this.of(...a).map((each, round) => each[figure] / others[round]![figure]))
  }
}

function table(figures: Figures, workload: Workload): string {
  const head = ["", "req/s", "p50 ms", "p99 ms", "CPU ms/req", "DB CPU ms/req", "RSS MB", "of LIMIT", "of PostGraphile"]
  const rows = contestants.map((contestant) => {
    const figure = (name: Parameters<Figures["median"]>[2], digits: number) => figures.median(workload, contestant, name).toFixed(digits)
    const ratio = (other: Contestant) => figures.ratio([workload, contestant], [workload, other]).toFixed(2)
    const load = [figure("perSecond", 0), figure("p50", 1), figure("p99", 1), figure("serverCpu", 3), figure("databaseCpu", 3)]
    return [contestant, ...load, figure("residentMb", 0), ratio("LIMIT"), ratio("PostGraphile")]
  })
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (row: string[]) => row.map((cell, column) => (column ? cell.padStart(widths[column]!) : cell.padEnd(widths[0]!))).join("  ")
  return [titles[workload], ...all.map(line)].join("\n")
}

interface Target {
  workload: Workload
  says: string
  value(figures: Figures): number
  atLeast?: number
  atMost?: number
}

const targets: Target[] = [
  { workload: "W5", says: "of LIMIT", value: (f) => f.ratio(["W5", "ours"], ["W5", "LIMIT"]), atLeast: 0.75 },
  { workload: "W5", says: "of PostGraphile", value: (f) => f.ratio(["W5", "ours"], ["W5", "PostGraphile"]), atLeast: 1.5 },
  {
    workload: "W5",
    says: "CPU of REST to GraphQL",
    value: (f) => f.ratio(["W5", "ours REST"], ["W5", "ours"], "serverCpu"),
    atMost: 1.15,
  },
  { workload: "W1", says: "of PostGraphile", value: (f) => f.ratio(["W1", "ours"], ["W1", "PostGraphile"]), atLeast: 2 },
  { workload: "W1", says: "CPU ms a request", value: (f) => f.median("W1", "ours", "serverCpu"), atMost: 0.9 },
  { workload: "W1", says: "MB resident", value: (f) => f.median("W1", "ours", "residentMb"), atMost: 300 },
  { workload: "W2", says: "of LIMIT", value: (f) => f.ratio(["W2", "ours"], ["W2", "LIMIT"]), atLeast: 0.7 },
  { workload: "W2", says: "of PostGraphile", value: (f) => f.ratio(["W2", "ours"], ["W2", "PostGraphile"]), atLeast: 1.7 },
  { workload: "W6", says: "page 1 to the far page, req/s", value: (f) => f.ratio(["W1", "ours"], ["W6", "ours"]), atMost: 1.3 },
]

function verdict({ workload, says, value, atLeast, atMost }: Target, figures: Figures): string {
  const reached = value(figures)
  const isOk = reached >= (atLeast ?? Number.NEGATIVE_INFINITY) && reached <= (atMost ?? Number.POSITIVE_INFINITY)
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  return `${workload}  ${reached.toFixed(2)} ${says}, target ${bound}: ${isOk ? "ok" : "missed"}`
}

/** The tables of a run and its targets. */
export function report(measurements: Measurement[], workloads: Workload[]): string {
  const figures = new Figures(measurements)
  const verdicts = targets.filter(({ workload }) => workloads.includes(workload)).map((target) => verdict(target, figures))
  return ["", ...workloads.map((workload) => `${table(figures, workload)}\n`), "Targets for ours", ...verdicts].join("\n")
}
