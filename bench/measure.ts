import type { ChildProcess } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import type { Server } from "./contestants.js"
import type { BenchDatabase } from "./database.js"
import type { LoadOrder, LoadResult } from "./load.js"
import type { Options, Workload } from "./options.js"
import { cpuMs, postgresCpuMs, residentMb } from "./processes.js"
import { type Contestant, contestants } from "./requests.js"

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

/** What a measurement needs. */
export interface Arena {
  options: Options
  database: BenchDatabase
  servers: Record<Contestant, Server>
  load: ChildProcess
  chatIds: Record<"any" | "long", string[]>
  cursors: Record<Contestant, string>
  /** PostgreSQL's process, where it runs on this machine. */
  postmaster: number | null
}

/** Measures a workload: rounds in which the contestants take turns, each round beginning with another one. */
export async function measure(arena: Arena, workload: Workload, say: (line: string) => void): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (let round = 0; round < arena.options.rounds; round++) {
    for (const table of ["chat", "message", "event"]) await arena.database.client.query(`vacuum (analyze) ${table}`)
    await arena.database.client.query("checkpoint").catch(() => {})
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(round + turn) % contestants.length]!
      const measurement = await measureOne(arena, workload, contestant, round)
      measurements.push(measurement)
      const { perSecond, serverCpu, p99 } = measurement
      say(
        `${workload} round ${round + 1} ${contestant.padEnd(12)} ${perSecond.toFixed(0)} req/s, ${serverCpu.toFixed(3)} ms CPU, p99 ${p99} ms`,
      )
    }
  }
  return measurements
}

async function measureOne(arena: Arena, workload: Workload, contestant: Contestant, round: number): Promise<Measurement> {
  const { options, database, servers, chatIds, cursors } = arena
  const server = servers[contestant]
  const order = {
    contestant,
    workload,
    url: server.url,
    connections: options.connections,
    matter: { token: database.token, companyId: database.companyId, cursor: cursors[contestant] },
    chatIds: workload === "W2" ? chatIds.long : chatIds.any,
  }
  server.resume()
  const stored = await storedMessages(database)
  const warm = await underLoad(arena.load, { ...order, seconds: options.warmUpSeconds })
  const before = [cpuMs(server.pid), postgresCpuMs(arena.postmaster)]
  const result = await underLoad(arena.load, { ...order, seconds: options.seconds })
  const after = [cpuMs(server.pid), postgresCpuMs(arena.postmaster)]
  const resident = residentMb(server.pid)
  const bad = warm.bad + result.bad
  if (bad > 0) throw new Error(`${contestant} under ${workload}: ${bad} requests failed`)
  if (result.good === 0) throw new Error(`${contestant} under ${workload} answered nothing`)
  if (workload === "W5") await mustBeStored(database, stored + warm.good + result.good, contestant)
  server.pause()
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

/** How many messages the chats say they hold. */
async function storedMessages({ client }: BenchDatabase): Promise<number> {
  return Number((await client.query("select sum(last_sequence) as count from chat")).rows[0].count)
}

/** Every answered message is there, and ours leave no events behind; those of the others are cleared away, so that nobody places them later. */
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
    if (performance.now() > deadline) throw new Error(`${contestant} left events without a place in the log`)
    await sleep(50)
  }
}

function underLoad(load: ChildProcess, order: LoadOrder): Promise<LoadResult> {
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
