import { setTimeout as sleep } from "node:timers/promises"
import { residentMb } from "../processes.js"
import { createChats } from "./chats.js"
import type { Deployment } from "./deployment.js"
import { cpuWatch, type TurnMeasurement } from "./measurement.js"
import type { TurnOptions } from "./options.js"
import { awaitAnswers, proveAnswered } from "./proof.js"
import { interleaved } from "./rounds.js"
import { isCounted, type Side, tidy } from "./sides.js"

/** The rows of these workloads. The reference calls no MCP server. */
export type Workload = "T2" | "T3" | "T3 MCP"

/** What answers the chats of each. */
const kinds = {
  T2: { answeredBy: "assistant", calls: 0 },
  T3: { answeredBy: "toolAssistant", calls: 1 },
  "T3 MCP": { answeredBy: "mcpAssistant", calls: 1 },
} as const

const sidesOf = (sides: Side[], workload: Workload) => sides.filter(({ contestant }) => workload !== "T3 MCP" || contestant !== "reference")

/** T2 and T3, with the memory of our server in MB. */
export interface Throughput {
  measurements: TurnMeasurement[]
  memory: { after: Workload | "rest"; megabytes: number }[]
}

/** Statements of a turn, by workload and contestant. */
export type TurnStatements = Record<string, number>

/** V8 has optimised the code of a turn after some thousand of them; before, it costs up to twice as much. */
const warmUpTurns = 3_000
const leastTurns = 500
const mostTurns = 12_000

/**
 * T2 and T3: turns of a model that answers at once. A batch of chats is stored with SQL, all due at one time that is still ahead, and the server's
 * sweep finds them; so the turns are measured and not their feeding. A batch is as large as the contestant answers in the seconds of a round.
 */
export async function measureThroughput(deployment: Deployment, workloads: Workload[], options: TurnOptions): Promise<Throughput> {
  await using stack = new AsyncDisposableStack()
  const sides = await deployment.start(stack, deployment.contestants, {})
  const [ours] = sides
  const found: Throughput = { measurements: [], memory: [] }
  const remember = (after: Throughput["memory"][number]["after"]) => found.memory.push({ after, megabytes: residentMb(ours!.pid) })
  for (const workload of workloads) {
    const counts = new Map<Side, number>()
    const measured = sidesOf(sides, workload)
    await interleaved(measured, 1, async (side) => {
      const { perSecond } = await runBatch(deployment, side, workload, warmUpTurns)
      counts.set(side, Math.round(Math.min(mostTurns, Math.max(leastTurns, perSecond * options.seconds))))
    })
    await interleaved(measured, options.rounds, async (side, round) => {
      await tidy(side)
      const figures = await runBatch(deployment, side, workload, counts.get(side)!)
      found.measurements.push({ workload, contestant: side.contestant, p50: Number.NaN, p99: Number.NaN, ...figures })
      const { perSecond, serverCpu, databaseCpu } = figures
      const used = `${serverCpu.toFixed(2)} ms CPU, ${databaseCpu.toFixed(2)} ms in PostgreSQL`
      deployment.say(
        `${workload} round ${round + 1} ${side.contestant.padEnd(9)} ${perSecond.toFixed(0)} turns/s, ${used}, ${figures.failed} failed`,
      )
    })
    remember(workload)
    if (workload === "T2") {
      await sleep(options.restSeconds * 1000)
      remember("rest")
    }
  }
  return found
}

/** Has a side answer so many due chats, and proves that it did. */
async function runBatch(deployment: Deployment, side: Side, workload: Workload, count: number) {
  await deployment.standIns.ask({ reset: { thinkMs: 0 } })
  const dueAt = new Date(Date.now() + 1_000 + count)
  const { answeredBy, calls } = kinds[workload]
  const chats = await createChats(side, { count, answeredBy, dueAt })
  const ahead = dueAt.getTime() - Date.now()
  if (ahead < 200) throw new Error(`Storing ${count} due chats took longer than planned`)
  await sleep(ahead - 100)
  const cpu = cpuWatch(deployment, side)
  await awaitAnswers(deployment, side, chats, 120)
  const used = cpu(count)
  const { answered, failed } = await proveAnswered(deployment, side, chats, calls)
  const begin = Math.min(...answered.map(({ turnBeganAt }) => turnBeganAt))
  const end = Math.max(...answered.map(({ storedAt }) => storedAt))
  return { perSecond: (count * 1000) / (end - begin), failed, ...used }
}

/** Counts the statements of a turn in processes of their own: all that are sent while a batch is answered, with the sequencer's and the sweeps'. */
export async function countTurns(deployment: Deployment, workloads: Workload[]): Promise<TurnStatements> {
  await using stack = new AsyncDisposableStack()
  const counts: TurnStatements = {}
  const sides = await deployment.start(stack, deployment.contestants.filter(isCounted), {}, true)
  for (const workload of workloads) {
    for (const side of sidesOf(sides, workload)) {
      await runBatch(deployment, side, workload, warmUpTurns)
      const before = await side.statements()
      await runBatch(deployment, side, workload, warmUpTurns)
      counts[`${workload} ${side.contestant}`] = ((await side.statements()) - before) / warmUpTurns
    }
  }
  return counts
}
