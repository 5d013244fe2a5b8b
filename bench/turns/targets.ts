import type { Figures } from "../figures.js"
import { tenfoldCostsAtMost, verdict } from "../targets.js"
import type { BurstReading } from "./burst.js"
import type { InboundStatements } from "./inbound.js"
import { type Row, rows, type TurnMeasurement } from "./measurement.js"
import type { Throughput, TurnStatements } from "./throughput.js"

/** The results of a run; what it was not asked for is empty. */
export interface TurnFindings {
  measurements: TurnMeasurement[]
  statements: InboundStatements & TurnStatements
  memory: Throughput["memory"]
  burst: BurstReading[]
}

/** A target, and how its value is computed from the results; it applies when its row was measured. */
interface TurnTarget {
  row: Row | "B"
  says: string
  value(figures: Figures<TurnMeasurement>, findings: TurnFindings): number
  atLeast?: number
  atMost?: number
}

const ofReference = (row: Row, what: string, atLeast: number): TurnTarget => ({
  row,
  says: `${what} a second, of the reference's`,
  value: (figures) => figures.ratio([row, "ours"], [row, "reference"]),
  atLeast,
})

const costs = (row: Row, what: string, figure: "serverCpu" | "databaseCpu", atMost: number): TurnTarget => ({
  row,
  says: `milliseconds of ${figure === "serverCpu" ? "server" : "PostgreSQL"} CPU a ${what}`,
  value: (figures) => figures.median(row, "ours", figure),
  atMost,
})

const isLate = (row: Row, figure: "p50" | "p99", atMost: number): TurnTarget => ({
  row,
  says: `milliseconds of overhead, ${figure}`,
  value: (figures) => figures.median(row, "ours", figure),
  atMost,
})

const resident = (after: Throughput["memory"][number]["after"], says: string, atMost: number): TurnTarget => ({
  row: "T2",
  says: `MB resident ${says}`,
  value: (_figures, { memory }) => memory.find((each) => each.after === after)!.megabytes,
  atMost,
})

const most = (burst: BurstReading[], of: (reading: BurstReading) => number) => Math.max(...burst.map(of))

const targets: TurnTarget[] = [
  ofReference("T1 AI off", "messages", 0.5),
  costs("T1 AI off", "message", "serverCpu", 0.2),
  ofReference("T1 AI on", "messages", 0.45),
  costs("T1 AI on", "message", "serverCpu", 0.2),
  ofReference("T1 new", "messages", 0.35),
  costs("T1 new", "message", "serverCpu", 0.2),
  ofReference("T1 bridge", "messages", 0.45),
  ofReference("T1 Telegram", "messages", 0.45),
  ofReference("T1 out", "deliveries", 0.5),
  ofReference("T2", "turns", 0.35),
  costs("T2", "turn", "serverCpu", 1.2),
  costs("T2", "turn", "databaseCpu", 1.2),
  { row: "T2", says: "SQL statements a turn", value: (_figures, { statements }) => statements["T2 ours"]!, atMost: 8 },
  resident("T2", "after T2", 300),
  resident("rest", "after a rest", 250),
  {
    row: "T3",
    says: "server CPU of a turn, of T2's",
    value: (figures) => figures.ratio(["T3", "ours"], ["T2", "ours"], "serverCpu"),
    atMost: 2.2,
  },
  {
    row: "T3 MCP",
    says: "server CPU of a turn, of T3's",
    value: (figures) => figures.ratio(["T3 MCP", "ours"], ["T3", "ours"], "serverCpu"),
    atMost: 1.3,
  },
  isLate("L100", "p50", 20),
  isLate("L100", "p99", 80),
  isLate("L50ms", "p50", 30),
  { row: "L500", says: "turns a second, of the offered", value: (figures) => figures.median("L500", "ours", "perSecond"), atLeast: 0.95 },
  isLate("L500", "p99", 300),
  {
    row: "B",
    says: "milliseconds out of order, at most",
    value: (_figures, { burst }) => most(burst, (each) => each.inversionMs),
    atMost: 1_000,
  },
  {
    row: "B",
    says: "a person's request meanwhile, of quiet",
    value: (_figures, { burst }) => most(burst, ({ meanwhileMs, quietMs }) => meanwhileMs / quietMs),
    atMost: 3,
  },
]

/** What a row costs with all chats, of what it costs with a tenth of them: the time of one, or the overhead of an answer. */
export const tenfoldCost = (figures: Figures<TurnMeasurement>, row: Row): number =>
  row.startsWith("L") ? figures.ratio([row, "ours"], [row, "a tenth"], "p50") : figures.ratio([row, "a tenth"], [row, "ours"])

/** A line for each target that the run can judge. */
export function turnVerdicts(figures: Figures<TurnMeasurement>, findings: TurnFindings): string[][] {
  if (figures.contestants.includes("a tenth"))
    return rows.flatMap((row) => {
      const cost = tenfoldCost(figures, row)
      return Number.isNaN(cost) ? [] : [verdict(row, "cost with all chats, of that with a tenth", { atMost: tenfoldCostsAtMost }, [cost])]
    })
  const measured = new Set<string>(findings.measurements.map(({ workload }) => workload))
  if (findings.burst.length > 0) measured.add("B")
  return targets
    .filter(({ row, says }) => measured.has(row) && (!says.endsWith("of T2's") || measured.has("T2")))
    .map((target) => verdict(target.row, target.says, target, [target.value(figures, findings)]))
}
