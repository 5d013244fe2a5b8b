import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { operatorError } from "../../errors/operator-error.js"
import { type Home, remember } from "./home.js"
import { lastLines } from "./init.js"
import { leastPageCacheMb, pageCacheMb } from "./page-cache.js"
import { findPostmaster, type Launch, launch } from "./postmaster.js"
import { superuserUrl } from "./roles.js"

const START_MS = 30_000
const STEP_MS = 20
const CONNECT_MS = 5_000
const WRONG_PASSWORD = "28P01"
const NO_DATABASE = "3D000"
const PORTS = { from: 20_000, below: 32_768, attempts: 50 }

// The port was taken meanwhile, sessions of a killed database process are still ending, or another process was faster.
const TRANSIENT = /Address already in use|could not bind|pre-existing shared memory|"postmaster.pid" (already exists|is empty)/

// The system does not promise so much memory, as with `vm.overcommit_memory=2`.
const NO_MEMORY = "could not map anonymous shared memory"

/** Finds the running database or starts it, waits until it accepts connections, and returns its port and whether it was started here. */
export async function findOrStart(home: Home): Promise<{ port: number; started: boolean }> {
  const deadline = performance.now() + START_MS
  let child: Launch | undefined
  let started = false
  let last = "no process of it was seen."
  let cacheMb = pageCacheMb()
  while (performance.now() < deadline) {
    const running = findPostmaster(home.data)
    if (running?.port) {
      const refusal = await tryConnect(home, running.port)
      if (!refusal) return { port: running.port, started }
      last = refusal
    }
    const end = running ? undefined : child?.ended()
    if (end) {
      last = lastLines(end)
      if (end.includes(NO_MEMORY) && cacheMb > leastPageCacheMb) cacheMb = leastPageCacheMb
      else if (!TRANSIENT.test(end)) throw operatorError(`PostgreSQL did not start on ${home.data}: ${last}`)
      await sleep(10 * STEP_MS)
    }
    if (!running && (!child || end)) {
      child = launch(home, await choosePort(home), cacheMb)
      started = true
    }
    await sleep(STEP_MS)
  }
  throw operatorError(`PostgreSQL on ${home.data} did not answer within ${START_MS / 1000} seconds (see ${home.logFile}): ${last}`)
}

// Returns why the database does not accept connections yet; creates the platform's database where it is missing.
async function tryConnect(home: Home, port: number): Promise<string | undefined> {
  let refusal = await attempt(superuserUrl(home.memory, port), "SELECT 1")
  if (refusal?.code === NO_DATABASE) refusal = await attempt(superuserUrl(home.memory, port, "postgres"), "CREATE DATABASE platform")
  if (refusal?.code === WRONG_PASSWORD) throw operatorError(`The password in ${home.dataDir}/postgres.json is not that of ${home.data}.`)
  return refusal && `${refusal.message}.`
}

async function attempt(connectionString: string, text: string): Promise<{ code?: string; message: string } | undefined> {
  const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: CONNECT_MS, query_timeout: 2 * CONNECT_MS })
  client.on("error", () => {})
  try {
    await client.connect()
    await client.query(text)
    return undefined
  } catch (error) {
    return error as Error
  } finally {
    await client.end().catch(() => {})
  }
}

// The same port as last time if it is free, so that noted addresses stay valid.
async function choosePort(home: Home): Promise<number> {
  let port = home.memory.port
  for (let attempt = 0; attempt < PORTS.attempts; attempt++) {
    if (port && (await isFree(port))) {
      home.memory.port = port
      remember(home.dataDir, home.memory)
      return port
    }
    port = randomInt(PORTS.from, PORTS.below)
  }
  throw operatorError(`No free port for the embedded database was found between ${PORTS.from} and ${PORTS.below}.`)
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false))
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
