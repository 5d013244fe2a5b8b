import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { administer, Instance, killAll } from "../../test/kit/campaign/instance.js"
import { Postgres } from "../../test/kit/campaign/postgres.js"
import { type Company, createCompany, post } from "./company.js"
import { type Hooks, Vendors } from "./messengers.js"
import { Neighbor } from "./neighbor.js"
import { callNames, callsOfCompany, Voice } from "./voice.js"
import { Watch } from "./watch.js"

/** A database with two companies, a server on it, and a client of the second company that measures how it is served. */
export interface TestBed {
  server: Instance
  watch: Watch
  neighbor: Neighbor
  /** The company whose credentials attack. */
  attacker: Company
  /** The company that must not notice. */
  victim: Company
  // biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** Ends the server and starts one with other environment variables on the same data. */
  restart(more?: Record<string, string>): Promise<void>
  close(): Promise<void>
}

const repository = process.cwd()

/** Opens an embedded PostgreSQL in a new folder, and starts the built server on it as `npm start` does. */
export async function openTestBed(more: Record<string, string> = {}): Promise<TestBed> {
  const folder = mkdtempSync(join(tmpdir(), "platform-hostile-"))
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(folder, 0o755)
  const postgres = await Postgres.open(join(folder, "data"))
  // The speed of the machine includes that of its transactions.
  process.env["TEST_DATABASE_URL"] = postgres.url
  const vendors = [await new Vendors().listen(), await new Vendors().listen()] as const
  const voice = await new Voice(usual.ENCRYPTION_KEY).listen()
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 })
  pool.on("error", () => {})
  const close = async () => {
    bed.neighbor?.close()
    bed.watch?.close()
    await bed.server?.stop()
    killAll()
    for (const each of [...vendors, voice]) await each.close()
    await pool.end()
    await postgres.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const env = { ...usual, ...vendors[0].environment, ...voice.environment, DATABASE_URL: postgres.url, DATA_DIR: join(folder, "files") }
  const bed = { close, sql: async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows } as TestBed
  bed.restart = async (changed = {}) => {
    bed.watch?.close()
    await bed.server?.stop()
    bed.server = await new Instance("server", repository, { ...env, ...changed }).start()
    bed.watch = new Watch(bed.server)
  }
  try {
    await bed.restart(more)
    const commandWith = (changed: Record<string, string>, ...args: string[]) => administer(repository, { ...env, ...changed }, args)
    const command = (...args: string[]) => commandWith({}, ...args)
    const create = (name: string, index: 0 | 1) => {
      const connect = (companyId: string): Promise<Hooks> => vendors[index].connect(commandWith, companyId)
      return createCompany(command, connect, voice, bed.server.url, name)
    }
    const [attacker, victim] = await Promise.all([create("Attacker", 0), create("Victim", 1)])
    Object.assign(bed, { attacker, victim, neighbor: new Neighbor() })
    const [assistantId] = victim.pools.namesOf("voice assistant")
    const originate = `${bed.server.url}/api/assistants/${assistantId}/originate`
    const isAnswered = async () => (await bed.sql(callsOfCompany, [victim.id]))[0]?.status === "in_progress"
    await voice.liveCall(victim, () => post(originate, victim.token, { phoneNumber: "+4915112345678" }), isAnswered)
    voice.follow(attacker)
    for (const kind of callNames) for (const value of victim.pools.namesOf(kind)) attacker.pools.addForeign(kind, value)
    for (const [kind, values] of bed.victim.pools.kept) for (const value of values) bed.attacker.pools.addForeign(kind, value)
    return bed
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Limits are those of production, with one exception: a proxy is trusted, so that requests without credentials can come from many addresses.
 * The offline model answers the visitors.
 */
const usual = {
  PORT: "0",
  DEMO: "false",
  TRUST_PROXY: "1",
  ALLOW_PRIVATE_NETWORK: "false",
  JWT_SECRET: randomBytes(24).toString("hex"),
  JWT_TTL_SECONDS: "7200",
  ENCRYPTION_KEY: randomBytes(32).toString("hex"),
  LOG_LEVEL: "warn",
  // The cache of compiled code stays in memory, and `npm start` has none.
  NODE_DISABLE_COMPILE_CACHE: "1",
}
