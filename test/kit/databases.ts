import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import pino from "pino"
import { readConfig } from "../../src/config/config.js"
import { SERVER_ROLE } from "../../src/database/embedded/roles.js"
import { type RunningServer, startServer } from "../../src/server.js"

/** The keys of its servers. */
export const testSecrets = { JWT_SECRET: "a secret of the tests, long enough to sign", ENCRYPTION_KEY: "00".repeat(32) }

/** An empty database and its servers; all are removed after the test file. */
export interface EmptyDatabase {
  url: string
  /** A new DATA_DIR for a server. */
  dataDir: string
  // biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** Runs a statement that the server's role may not run. */
  asSuperuser(text: string, values: unknown[]): Promise<void>
  /** Starts a server on it, on a free port; environment variables of the server may be given. */
  start(env?: Record<string, string>): Promise<RunningServer>
  /** Its connections, except those of `sql`. */
  connections(): Promise<number>
}

const closers: (() => Promise<unknown>)[] = []

/** Closes what the test file opened, the newest first. */
export async function closeDatabases() {
  for (const close of closers.splice(0).reverse()) await close()
}

/** Creates an empty database, for tests of migrations and starts. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const { TEST_DATABASE_URL: server, TEST_SUPERUSER_URL: superuser, TEST_DATA_DIR: folder } = process.env
  if (!server || !superuser || !folder) throw new Error("No database to test with: run the tests with `npm test`")
  const name = `empty_${randomBytes(6).toString("hex")}`
  const url = new URL(server)
  url.pathname = `/${name}`
  const cluster = new pg.Pool({ connectionString: superuser, max: 1 })
  await cluster.query(`create database ${name} owner ${SERVER_ROLE}`)
  const dataDir = await mkdtemp(join(folder, "data-"))
  const pool = new pg.Pool({ connectionString: url.href, max: 2 })
  // Connections may still be closing when the database is dropped.
  pool.on("error", () => {})
  closers.push(async () => {
    await pool.end()
    await cluster.query(`drop database ${name} with (force)`)
    await cluster.end()
    await rm(dataDir, { recursive: true })
  })
  return {
    url: url.href,
    dataDir,
    sql: async (text, values) => (await pool.query(text, values)).rows,
    async asSuperuser(text, values) {
      const client = new pg.Client({ connectionString: Object.assign(new URL(superuser), { pathname: `/${name}` }).href })
      await client.connect()
      await client.query(text, values).finally(() => client.end())
    },
    async start(env = {}) {
      const config = readConfig({ DATABASE_URL: url.href, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "silent", ...testSecrets, ...env })
      const started = await startServer(config, url.href, pino({ level: "silent" }))
      closers.push(started.stop)
      return started
    },
    async connections() {
      // Our own connections belong to `pool`, which is idle during this query.
      await pool.query("select 1")
      const { rows } = await cluster.query(
        "select count(*)::integer as count from pg_stat_activity where datname = $1 and pid <> all($2::integer[])",
        [name, await ownPids(pool)],
      )
      return rows[0].count
    },
  }
}

/** Process ids of a pool's connections, at most two of them. */
async function ownPids(pool: pg.Pool): Promise<number[]> {
  const clients = await Promise.all([pool.connect(), pool.connect()])
  const pids = await Promise.all(clients.map(async (client) => (await client.query("select pg_backend_pid() as pid")).rows[0].pid))
  for (const client of clients) client.release()
  return pids
}
