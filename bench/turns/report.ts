import { Figures, tableOf } from "../figures.js"
import { customers } from "./burst.js"
import { type Row, rows, type TurnMeasurement } from "./measurement.js"
import type { Contestant } from "./sides.js"
import { type TurnFindings, tenfoldCost, turnVerdicts } from "./targets.js"

const titles: Record<Row, string> = {
  "T1 AI off": "a known visitor's message, AI off",
  "T1 AI on": "a known visitor's message, AI on: a reply becomes due",
  "T1 new": "a new visitor's first message, AI on",
  "T1 bridge": "a known customer's message over the bridge, AI off",
  "T1 Telegram": "a known customer's message from Telegram, AI off",
  "T1 out": "deliveries over the bridge, whose connector answers at once",
  T2: "turns, the model answers at once",
  T3: "turns with a call of a webhook, both answer at once",
  "T3 MCP": "turns with a call of an MCP server, both answer at once",
  L10: "10 turns at once, 4 s of debounce, a model of 2 s",
  L100: "100 turns at once",
  L500: "500 turns at once, 250 a second offered",
  L50ms: "50 ms of debounce, the model answers at once, 20 a second",
}

/** How ours is compared with each of the others, and the title of that column. */
type Comparisons = Partial<Record<Contestant, [title: string, of: (figures: Figures<TurnMeasurement>, row: Row) => number]>>
const comparisons: Comparisons = {
  reference: ["of reference", (figures, row) => figures.ratio([row, "ours"], [row, "reference"])],
  before: ["CPU of before", (figures, row) => figures.ratio([row, "ours"], [row, "before"], "serverCpu")],
  "a tenth": ["cost, of a tenth's", tenfoldCost],
}

type Figure = "perSecond" | "p50" | "p99" | "serverCpu" | "databaseCpu" | "failed"

/** A table of some rows, ours above the others, with medians over the rounds. */
function table(figures: Figures<TurnMeasurement>, title: string, which: Row[], columns: [Figure, string, number][], more: Columns = {}) {
  const compared = figures.contestants.flatMap((contestant) => (comparisons[contestant] ? [comparisons[contestant]] : []))
  const head = ["", "", "", ...columns.map(([, name]) => name), ...Object.keys(more), ...compared.map(([title]) => title)]
  const lines = which.flatMap((row) =>
    figures.contestants.flatMap((contestant) => {
      if (Number.isNaN(figures.median(row, contestant, "perSecond"))) return []
      const values = columns.map(([figure, , digits]) => figures.median(row, contestant, figure).toFixed(digits))
      const others = Object.values(more).map((of) => of(row, contestant))
      const isOurs = contestant === "ours"
      const ratios = compared.map(([, of]) => (isOurs ? shareOf(of(figures, row)) : ""))
      return [[isOurs ? row : "", isOurs ? titles[row] : "", contestant, ...values, ...others, ...ratios]]
    }),
  )
  return `${title}\n${tableOf([head, ...lines], 3)}`
}

/** The reference does not do everything. */
const shareOf = (ratio: number) => (Number.isNaN(ratio) ? "" : ratio.toFixed(2))

type Columns = Record<string, (row: Row, contestant: string) => string>

/** The tables of a run, and whether its targets were met. */
export function turnReport(findings: TurnFindings): string {
  const { measurements, statements, memory, burst } = findings
  const figures = new Figures(measurements)
  const measured = rows.filter((row) => measurements.some(({ workload }) => workload === row))
  const some = (prefix: string) => measured.filter((row) => row.startsWith(prefix))
  const cpu: [Figure, string, number][] = [
    ["serverCpu", "CPU ms", 3],
    ["databaseCpu", "DB CPU ms", 3],
  ]
  const overhead: [Figure, string, number][] = [
    ["p50", "p50 ms", 1],
    ["p99", "p99 ms", 1],
  ]
  const counted: Columns = { statements: (row, contestant) => statements[`${row} ${contestant}`]?.toFixed(1) ?? "" }
  const parts: string[] = []
  const inbound = some("T1").filter((row) => row !== "T1 out")
  if (inbound.length > 0)
    parts.push(table(figures, "Customers' messages", inbound, [["perSecond", "messages/s", 0], ...overhead, ...cpu], counted))
  if (some("T1 out").length > 0) {
    const title = "Deliveries; their statements include the sequencer's"
    parts.push(table(figures, title, some("T1 out"), [["perSecond", "deliveries/s", 0], ...cpu], counted))
  }
  const turns = [...some("T2"), ...some("T3")]
  if (turns.length > 0)
    parts.push(
      table(
        figures,
        "Turns; their statements include the sequencer's",
        turns,
        [["perSecond", "turns/s", 0], ...cpu, ["failed", "failed", 0]],
        counted,
      ),
    )
  for (const { after, megabytes } of memory) parts.push(`${megabytes.toFixed(0)} MB resident after ${after === "rest" ? "a rest" : after}`)
  if (some("L").length > 0) {
    const title = "Overhead of a turn: stored, less its due time and the model's time"
    parts.push(table(figures, title, some("L"), [...overhead, ["perSecond", "of offered", 2], ["failed", "failed", 0]]))
  }
  if (burst.length > 0) {
    const head = [
      "round",
      "stored in s",
      "answered in s",
      "failed",
      "out of order ms",
      "request ms: quiet",
      "storing",
      "meanwhile",
      "longest",
    ]
    const lines = burst.map(({ storedIn, answeredIn, failed, inversionMs, quietMs, storingMs, meanwhileMs, longestMs }, index) => {
      const values = [storedIn, answeredIn, failed, inversionMs, quietMs, storingMs, meanwhileMs, longestMs]
      return [String(index + 1), ...values.map((value, place) => value.toFixed([1, 1, 0, 0, 1, 1, 1, 0][place]))]
    })
    parts.push(`B ${customers} customers write within a second, while a person reads the inbox\n${tableOf([head, ...lines])}`)
  }
  const head = ["", "Targets for ours", "target", "", ""]
  parts.push(tableOf([head, ...turnVerdicts(figures, findings)], 3))
  return `\n${parts.join("\n\n")}\n`
}
