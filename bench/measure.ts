import type { ChildProcess } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import type { Server } from "./contestants.js"
import { type BenchDatabase, type BenchDatabases, databaseOf } from "./database.js"
import type { LoadOrder, LoadResult } from "./load.js"
import type { Options, Workload } from "./options.js"
import { cpuMs, postgresCpuMs, residentMb } from "./processes.js"
import { type Contestant, contestants } from "./requests.js"
import type { Samples } from "./samples.js"

/** One contestant under one workload in one round. */
export interface Measurement {
  contestant: Contestant
  workload: Workload
  round: number
  perSecond: number
  p50: number
  p99: number
  /** CPU milliseconds of a request, in the server and in PostgreSQL. */
  serverCpu: number
  databaseCpu: number
  residentMb: number
}

/** The servers, the database and the options of a run. */
export interface BenchmarkContext<C extends Contestant = Contestant> extends BenchDatabases {
  options: Options
  servers: Record<C, Server>
  load: ChildProcess
  samples: Samples
  cursors: Record<C, string>
  /** PostgreSQL's main process, if it runs on this machine. */
  postmaster: number | null
  /** Whether tables are vacuumed before each round; not after the flood of writes. */
  isTidied: boolean
  say(line: string): void
}

/** Page 1,000 is measured next to page 1, since their ratio is the result. */
export const sideBySide = (workloads: Workload[]) =>
  workloads.flatMap((workload): Workload[][] => {
    if (workload === "W6") return []
    return [workload === "W1" ? workloads.filter((each) => each === "W1" || each === "W6") : [workload]]
  })

/** Measures: rounds in which the contestants take turns, each round beginning with another one. */
export async function measure(context: BenchmarkContext): Promise<Measurement[]> {
  const { options, database, earlier, isTidied, say } = context
  const measurements: Measurement[] = []
  for (const group of sideBySide(options.workloads)) {
    for (let round = 0; round < options.rounds; round++) {
      if (isTidied) for (const each of new Set([database, earlier])) await each.tidy()
      await database.client.query("checkpoint").catch(() => {})
      for (let turn = 0; turn < contestants.length; turn++) {
        const contestant = contestants[(round + turn) % contestants.length]!
        context.servers[contestant].resume()
        for (const workload of group) {
          const measurement = await measureOne(context, workload, contestant, round)
          measurements.push(measurement)
          const { perSecond, serverCpu, p99 } = measurement
          const who = `${workload} round ${round + 1} ${contestant.padEnd(20)}`
          say(`${who} ${perSecond.toFixed(0)} req/s, ${serverCpu.toFixed(3)} ms CPU, p99 ${p99} ms`)
        }
        context.servers[contestant].pause()
      }
    }
  }
  return measurements
}

const orderFor = <C extends Contestant>(context: BenchmarkContext<C>, workload: Workload, contestant: C): LoadOrder => ({
  contestant,
  workload,
  url: context.servers[contestant].url,
  connections: context.options.connections,
  token: databaseOf(context, contestant).token,
  companyId: context.database.companyId,
  cursor: workload === "W6" ? context.cursors[contestant] : null,
  samples: context.samples,
})

/** Measures a contestant under a workload in a round, after a warm-up. */
export async function measureOne<C extends Contestant>(
  context: BenchmarkContext<C>,
  workload: Workload,
  contestant: C,
  round: number,
): Promise<Measurement & { contestant: C }> {
  const { options, servers, load, postmaster } = context
  const database = databaseOf(context, contestant)
  const { pid } = servers[contestant]
  const order = orderFor(context, workload, contestant)
  const stored = workload === "W5" ? await storedMessages(database) : 0
  const warm = await underLoad(load, { ...order, seconds: options.warmUpSeconds })
  const before = [cpuMs(pid), postgresCpuMs(postmaster)]
  const result = await underLoad(load, { ...order, seconds: options.seconds })
  const after = [cpuMs(pid), postgresCpuMs(postmaster)]
  const resident = residentMb(pid)
  const bad = warm.bad + result.bad
  // Others may fail over many rows: what they answer is measured.
  if (contestant.startsWith("ours")) mustBeGood(result, bad, `${contestant} under ${workload}`)
  else if (bad > 0) context.say(`${contestant} under ${workload}: ${bad} requests failed`)
  if (workload === "W5") await mustBeStored(database, stored + warm.good + result.good, contestant)
  return {
    contestant,
    workload,
    round,
    perSecond: result.good / result.seconds,
    p50: result.p50,
    p99: result.p99,
    serverCpu: (after[0]! - before[0]!) / result.good,
    databaseCpu: (after[1]! - before[1]!) / result.good,
    residentMb: resident,
  }
}

function mustBeGood({ good }: LoadResult, bad: number, who: string) {
  if (bad > 0) throw new Error(`${who}: ${bad} requests failed`)
  if (good === 0) throw new Error(`${who} answered nothing`)
}

/**
 * Writes messages to all chats in random order, so that the list by recency changes as in production; an earlier version that has a database
 * of its own writes there. From here on only autovacuum runs, as in an ordinary installation.
 */
export async function flood(context: BenchmarkContext) {
  await write(context, "ours")
  if (context.earlier !== context.database) await write(context, "before")
}

async function write(context: BenchmarkContext, contestant: Contestant) {
  const { options, servers, load, say } = context
  const database = databaseOf(context, contestant)
  await database.letVacuum()
  const chats: string[] = (
    await database.client.query("select id from chat where company_id = $1 order by random()", [database.companyId])
  ).rows.map(({ id }) => id)
  const stored = await storedMessages(database)
  servers[contestant].resume()
  say(`${contestant}: writing ${options.writes} messages …`)
  const order = { ...orderFor(context, "W5", contestant), samples: { ...context.samples, chats }, writes: options.writes }
  const result = await underLoad(load, order)
  mustBeGood(result, result.bad, "Writing")
  if (result.good < options.writes) throw new Error(`Only ${result.good} messages were written`)
  await mustBeStored(database, stored + result.good, contestant)
  servers[contestant].pause()
  say(`wrote ${result.good} messages in ${result.seconds.toFixed(0)} s`)
}

/** The number of messages by the chats' sequence numbers. */
async function storedMessages({ client }: BenchDatabase): Promise<number> {
  return Number((await client.query("select sum(last_sequence) as count from chat")).rows[0].count)
}

/** Checks that every confirmed message is stored and has a positioned event. Events of other servers are deleted, so that no sequencer gets them. */
async function mustBeStored(database: BenchDatabase, atLeast: number, contestant: Contestant) {
  const there = await storedMessages(database)
  if (there < atLeast) throw new Error(`${contestant} answered ${atLeast - there} messages that are not stored`)
  const { client } = database
  if (!contestant.startsWith("ours")) {
    await client.query("delete from event where position is null")
    return
  }
  const deadline = performance.now() + 5_000
  while ((await client.query("select 1 from event where position is null limit 1")).rowCount) {
    if (performance.now() > deadline) throw new Error(`${contestant} left events without a position`)
    await sleep(50)
  }
}

/** Has the load generator work on an order. */
export function underLoad(load: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("The load generator ended"))
    load.once("exit", ended)
    load.once("message", (result) => {
      load.off("exit", ended)
      resolve(result as LoadResult)
    })
    load.send(order)
  })
}
