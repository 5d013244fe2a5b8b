import { setTimeout as sleep } from "node:timers/promises"
import { compareAnswers, cursorAtLimit, cursorOfOurs, farPage } from "./comparison.js"
import { type Server, startProgram } from "./contestants.js"
import { type BenchDatabase, described, openWithTenth } from "./database.js"
import { type BenchmarkContext, measureOne, sideBySide } from "./measure.js"
import type { Options, Workload } from "./options.js"
import { canPin, cores, end, pinPostgres, postmasterOf, startNode } from "./processes.js"
import { drawSamples } from "./samples.js"
import { type Extent, type SizeContestant, type SizeMeasurement, sizeReport } from "./size-report.js"

/** A database of S1 with its two servers, which are paused while others are measured. */
type Sized = BenchmarkContext<SizeContestant> & { extent: Extent }

/**
 * S1: what lists and a written message cost with all chats, of what they cost with a tenth of them. Servers of both databases take turns, since the
 * speed of a machine changes from one run to the next by more than what is looked for. Returns the report.
 */
export async function measureSizes(options: Options, say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  // Paused servers would outlive an interrupted run.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
  const { all, tenth } = await openWithTenth(stack, options, say)
  const postmaster = postmasterOf((await all.client.query("select pg_backend_pid() as pid")).rows[0].pid)
  if (!canPin || !postmaster || !pinPostgres(postmaster, cores.rest)) say("not everything is pinned to its core, so the figures say less")
  const load = startNode(cores.rest, ["--import", "tsx", "bench/load.ts"], {}, { ipc: true })
  stack.defer(() => end(load))
  // The same page of both lists.
  const page = farPage({ ...options.size, chats: options.size.chats / 10 })
  const sized: Sized[] = []
  for (const [extent, database] of [["all", all] as const, ["a tenth", tenth] as const]) {
    const servers = await started(stack, database)
    const cursors = { ours: await cursorOfOurs(servers.ours, database, page), "LIMIT-rows": await cursorAtLimit(database, page) }
    const both = { database, earlier: database, samples: await drawSamples(database) }
    const each = { extent, options, ...both, servers, load, cursors, postmaster, isTidied: true, say }
    for (const workload of options.workloads) await compareAnswers(each, [workload], measured(workload))
    sized.push(each)
  }
  // The servers finish their background work.
  await sleep(1_500)
  for (const { servers } of sized) for (const server of Object.values(servers)) server.pause()
  const found: SizeMeasurement[] = []
  for (const group of sideBySide(options.workloads)) {
    for (let round = 0; round < options.rounds; round++) found.push(...(await measureRound(sized, group, round)))
  }
  return sizeReport(found, options, page, await described(all.client))
}

async function started(stack: AsyncDisposableStack, database: BenchDatabase): Promise<Record<SizeContestant, Server>> {
  const start = async (program: SizeContestant) => {
    const server = await startProgram(program, database)
    stack.defer(() => server.stop())
    return server
  }
  return { ours: await start("ours"), "LIMIT-rows": await start("LIMIT-rows") }
}

/** Whose requests are measured: the reference counts all chats of the filter for each of W3's requests, which takes seconds. */
const measured = (workload: Workload): SizeContestant[] => (workload === "W3" ? ["ours"] : ["ours", "LIMIT-rows"])

/** A round of workloads: both contestants on one database, then on the other; the next round begins with the other one. */
async function measureRound(sized: Sized[], group: Workload[], round: number): Promise<SizeMeasurement[]> {
  const found: SizeMeasurement[] = []
  for (const { database } of sized) await database.tidy()
  await sized[0]!.database.client.query("checkpoint").catch(() => {})
  for (let turn = 0; turn < sized.length; turn++) {
    const context = sized[(round + turn) % sized.length]!
    for (const workload of group) {
      for (const contestant of measured(workload)) {
        context.servers[contestant].resume()
        const measurement = await measureOne(context, workload, contestant, round)
        context.servers[contestant].pause()
        const { perSecond, serverCpu, databaseCpu, p99 } = measurement
        const who = `${workload} round ${round + 1} ${contestant.padEnd(10)} ${context.extent.padEnd(7)}`
        context.say(`${who} ${perSecond.toFixed(0)} req/s, ${serverCpu.toFixed(3)} + ${databaseCpu.toFixed(3)} ms CPU, p99 ${p99} ms`)
        found.push({ ...measurement, contestant: `${contestant}, ${context.extent}` })
      }
    }
  }
  return found
}
