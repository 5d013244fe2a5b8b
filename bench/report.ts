import { countedSizes, type StatementCount } from "./counting.js"
import { type DeliveredReading, fates } from "./delivered.js"
import { Figures, median, tableOf } from "./figures.js"
import type { HistoryReading } from "./history.js"
import type { Measurement } from "./measure.js"
import type { Options, Workload } from "./options.js"
import { type Contestant, contestants, earlierVersion } from "./requests.js"
import { failsAtMost, historyGrowth, targets, verdict } from "./targets.js"

/** The results of a run. */
export interface Findings {
  statements: StatementCount[]
  fresh: Measurement[]
  /** After the flood of writes; empty without one. */
  flooded: Measurement[]
  delivered: DeliveredReading[]
  history: HistoryReading[]
}

/** What each workload asks for. */
export const titles: Record<Workload, string> = {
  W1: "W1 the 50 latest chats with last message, assistant, folder and tags",
  W6: "W6 a page of W1 far down the list, by cursor",
  W2: "W2 the 30 newest messages of a chat with the quoted ones and their files",
  W3: "W3 50 unread chats of a channel with any of eight tags, and their number",
  W4: "W4 50 chats by a part of their names: some twenty match, one in a hundred, or all",
  W5: "W5 create a message",
}

function loadTable(figures: Figures, workload: Workload): string {
  const compared: Contestant[] = ["LIMIT", "LIMIT-rows", "PostGraphile"]
  const head = ["", "req/s", "p50 ms", "p99 ms", "CPU ms/req", "DB CPU ms/req", "RSS MB", ...compared.map((other) => `of ${other}`)]
  if (earlierVersion) head.push("CPU of before")
  const rows = contestants.map((contestant) => {
    const figure = (name: Parameters<Figures["median"]>[2], digits: number) => figures.median(workload, contestant, name).toFixed(digits)
    const load = [figure("perSecond", 0), figure("p50", 1), figure("p99", 1), figure("serverCpu", 3), figure("databaseCpu", 3)]
    const ratios = compared.map((other) => figures.ratio([workload, contestant], [workload, other]).toFixed(2))
    const earlier = contestants.find((other) => other !== contestant && other.replace(/^before/, "ours") === contestant)
    const cpu = earlier ? figures.ratio([workload, contestant], [workload, earlier], "serverCpu").toFixed(2) : ""
    return [contestant, ...load, figure("residentMb", 0), ...ratios, ...(earlierVersion ? [cpu] : [])]
  })
  return `${titles[workload]}\n${tableOf([head, ...rows])}`
}

/** By contestant and workload; for our server by page size. */
function statementTable(statements: StatementCount[], workloads: Workload[]): string {
  const rows = contestants.map((contestant) => {
    const counts = workloads.map((workload) => {
      const { bySize } = statements.find((each) => each.contestant === contestant && each.workload === workload)!
      return [...bySize.values()].join(" ")
    })
    return [contestant, ...counts]
  })
  const title = `SQL statements per request, with authentication, at most; for our server with pages of ${countedSizes.join(", ")} rows`
  return `${title}\n${tableOf([["", ...workloads], ...rows])}`
}

function historyTable(history: HistoryReading[]): string {
  const head = ["reader", "messages", "MB", "seconds", "RSS before", "at most", "growth MB"]
  const rows = history.map(({ reader, messages, megabytes, seconds, before, most }) => {
    const memory = [before, most, most - before].map((value) => value.toFixed(0))
    return [reader, String(messages), megabytes.toFixed(0), seconds.toFixed(1), ...memory]
  })
  return `H1 the whole history of a chat, streamed\n${tableOf([head, ...rows])}`
}

/** What a message without a connection costs, of one that its event delivers; null when it was not measured. */
function failingCost(readings: DeliveredReading[]): number | null {
  const of = (fate: DeliveredReading["fate"]) =>
    median(readings.filter((each) => each.program === "ours" && each.fate === fate).map(({ serverCpu }) => serverCpu))
  return readings.length > 0 ? of("not connected") / of("sent by its event") : null
}

/** Medians of the rounds; what each fate costs, of a message that its event delivers. */
function deliveredTable(readings: DeliveredReading[]): string {
  const programs = [...new Set(readings.map(({ program }) => program))]
  const rows = programs.flatMap((program) => {
    const medianOf = (fate: DeliveredReading["fate"], name: "perSecond" | "serverCpu" | "databaseCpu") =>
      median(readings.filter((each) => each.program === program && each.fate === fate).map((each) => each[name]))
    return fates.map((fate) => {
      const [rate, server, postgres] = [medianOf(fate, "perSecond"), medianOf(fate, "serverCpu"), medianOf(fate, "databaseCpu")]
      const ratio = server / medianOf(fates[0], "serverCpu")
      return [`${program}: ${fate}`, rate.toFixed(0), server.toFixed(3), postgres.toFixed(3), ratio.toFixed(2)]
    })
  })
  const head = ["", "messages/s", "CPU ms/message", "DB CPU ms/message", "CPU of the first"]
  return `D1 a message, until it has its final status and all its events\n${tableOf([head, ...rows])}`
}

function verdicts({ fresh, flooded, delivered, history }: Findings, { workloads, writes }: Options): string {
  const phases = [fresh, flooded].filter((each) => each.length > 0).map((each) => new Figures(each))
  const lines = targets
    .filter(({ workload }) => workloads.includes(workload))
    .map((target) => verdict(target.workload, target.says, target, phases.map(target.value)))
  const failing = failingCost(delivered)
  if (failing !== null) {
    const line = verdict("D1", "server CPU of a message without a connection, of one that its event delivers", { atMost: failsAtMost }, [
      failing,
    ])
    lines.push([...line, ...phases.slice(1).flatMap(() => ["", ""])])
  }
  for (const { reader, before, most } of history) {
    const line = verdict("H1", `MB of growth, read at ${reader}`, { atMost: historyGrowth }, [most - before])
    lines.push([...line, ...phases.slice(1).flatMap(() => ["", ""])])
  }
  const head = ["", "Targets for ours", "target", "fresh", "", ...(phases.length > 1 ? [`after ${writes} writes`, ""] : [])]
  return tableOf([head, ...lines], 3)
}

/** The tables of a run, and whether its targets were met. */
export function report(found: Findings, options: Options): string {
  const { workloads, writes } = options
  const loads = (title: string, all: Measurement[]) => {
    const figures = new Figures(all)
    return all.length === 0 ? [] : [title, ...workloads.map((workload) => loadTable(figures, workload))]
  }
  const parts = [
    ...loads("— On a new database —", found.fresh),
    ...loads(`— After ${writes} message writes, with no vacuum but PostgreSQL's own —`, found.flooded),
    ...(workloads.length > 0 ? [statementTable(found.statements, workloads)] : []),
    ...(found.delivered.length > 0 ? [deliveredTable(found.delivered)] : []),
    ...(found.history.length > 0 ? [historyTable(found.history)] : []),
    verdicts(found, options),
  ]
  return `\n${parts.join("\n\n")}`
}
