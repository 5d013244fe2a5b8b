import { once } from "node:events"
import { Agent, createServer, get } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import pg from "pg"

/** How many milliseconds each of these takes on average; null where it cannot be measured. */
export interface Readings {
  /** A turn of the event loop. */
  turn: number
  /** A fixed piece of work of the CPU. */
  spin: number
  /** An empty HTTP request on loopback. */
  request: number
  /** An empty transaction on TEST_DATABASE_URL. */
  transaction: number | null
}

/** The speed of this machine, as this process sees it. */
export interface Reference {
  /** How many times longer things take than on a quiet machine, at least 1. */
  slowdown: number
  readings: Readings
  /** When it was measured, by `performance.now()`. */
  measuredAt: number
}

/**
 * The readings of a quiet machine: what a Jest worker measures again and again while nothing else runs, on two cores of a virtual machine with
 * Node 24 and the embedded PostgreSQL without waiting for the disk. The best of sixty measurements are lower: 0.0012, 1.0, 0.06 and 0.055 ms.
 */
export const quiet = { turn: 0.0015, spin: 1, request: 0.1, transaction: 0.1 }

/** An older measurement says little about a machine whose other work begins and ends. */
const freshMs = 60_000

let latest: Reference | undefined
let measuring: Promise<Reference> | undefined

/**
 * The speed of this machine, measured in the last minute.
 * @example const { slowdown } = await reference()
 */
export async function reference(): Promise<Reference> {
  return latest && performance.now() - latest.measuredAt < freshMs ? latest : measureAgain()
}

/** Measures the speed of this machine now; callers at the same time share one measurement. */
export function measureAgain(): Promise<Reference> {
  measuring ??= measured().finally(() => {
    measuring = undefined
  })
  return measuring
}

/** The slowdown that was measured last, without measuring: 1 before the first measurement. */
export const lastSlowdown = (): number => latest?.slowdown ?? 1

/** A reference in one line. */
export function printed({ slowdown, readings }: Reference): string {
  const parts = Object.entries(readings).map(([name, ms]) => `${name} ${ms === null ? "unknown" : `${ms.toPrecision(2)} ms`}`)
  return `slowdown ${slowdown.toFixed(1)} (${parts.join(", ")})`
}

/** The mean of how many times longer each takes than on a quiet machine, by its logarithm, so that one interruption does not decide it. */
export function slowdownOf(readings: Readings): number {
  const names = Object.keys(quiet) as (keyof Readings)[]
  const ratios = names.flatMap((name) => (readings[name] === null ? [] : [readings[name] / quiet[name]]))
  return Math.max(1, Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length))
}

async function measured(): Promise<Reference> {
  const readings = {
    turn: await mean(4_000, () => turn()),
    spin: await mean(12, spin),
    request: await ofRequest(),
    transaction: await ofTransaction(),
  }
  latest = { slowdown: slowdownOf(readings), readings, measuredAt: performance.now() }
  return latest
}

/** Milliseconds of one run, on average: the first ones, which warm up, do not count. */
async function mean(times: number, run: () => unknown): Promise<number> {
  for (let index = 0; index < times / 2; index += 1) await run()
  const begin = performance.now()
  for (let index = 0; index < times; index += 1) await run()
  return (performance.now() - begin) / times
}

/** Work whose result is used, so that the compiler keeps it. */
let sum = 0
function spin() {
  for (let index = 0; index < 200_000; index += 1) sum = (sum * 31 + index) % 1_000_003
}

async function ofRequest(): Promise<number> {
  const server = createServer((_request, response) => response.end()).listen(0, "127.0.0.1")
  const agent = new Agent({ keepAlive: true })
  try {
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    return await mean(30, async () => {
      const [response] = await once(get({ host: "127.0.0.1", port, agent }), "response")
      await once(response.resume(), "end")
    })
  } finally {
    agent.destroy()
    server.close()
  }
}

async function ofTransaction(): Promise<number | null> {
  const { TEST_DATABASE_URL: connectionString } = process.env
  if (!connectionString) return null
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: freshMs })
  client.on("error", () => {})
  try {
    await client.connect()
    return await mean(20, async () => {
      await client.query("begin")
      await client.query("commit")
    })
  } catch {
    // A test may have stopped its database.
    return null
  } finally {
    await client.end().catch(() => {})
  }
}
