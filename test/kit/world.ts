import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import pino from "pino"
import { readConfig } from "../../src/config/config.js"
import type { Services } from "../../src/context/services.js"
import { SERVER_ROLE } from "../../src/database/embedded/roles.js"
import { clock } from "../../src/entities/kit/clock.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { reply } from "../../src/jobs/reply.js"
import { type RunningServer, startServer } from "../../src/server.js"
import { makeGql, makeRest } from "./clients.js"
import { type CompanyFixture, companyFixture, createCompany } from "./company-fixture.js"
import { type FitsOpenApi, readOpenApi } from "./openapi.js"
import { broken } from "./promise.js"
import { happens, showInWaits } from "./wait.js"

export type { CompanyFixture }

/** What a test may say about its world: environment variables of the server over those below. */
export type WorldOptions = Record<string, string>

/** A server of its own on a database of its own, with two companies in it. */
export interface World {
  url: string
  databaseUrl: string
  services: Services
  acme: CompanyFixture
  globex: CompanyFixture
  rest: ReturnType<typeof makeRest>
  gql: ReturnType<typeof makeGql>
  /** Queries the database directly, for rows that no API shows. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** The movable clock of this process. */
  clock: typeof clock
  /** The server's OpenAPI document; every answer through `rest` is held against it. */
  // biome-ignore lint/suspicious/noExplicitAny: walked by name.
  openapi: any
  /** Throws when an answer does not fit that document. */
  fits: FitsOpenApi
  /** What the server logged from `warn` up. */
  logged: Record<string, unknown>[]
  /** Takes every turn that is due by the clock, and waits until they are done. */
  runDue(): Promise<void>
  /** A second server on the same database. */
  another(options?: WorldOptions): Promise<{ url: string; services: Services; stop(): Promise<void> }>
}

/** Milliseconds that a sweep works before it leaves the rest to its next run: longer than any test, so that one run does everything at any speed. */
Object.assign(jobLimits, { sweepWorkMs: 60 * 60_000 })

/** Long-lived sessions and no limits, so that a test moves the clock and signs in as it likes; what is about them says otherwise. */
const usual: WorldOptions = {
  PORT: "0",
  DEMO: "false",
  JWT_SECRET: "a secret of the tests, long enough to sign",
  ENCRYPTION_KEY: "00".repeat(32),
  JWT_TTL_SECONDS: String(7 * 24 * 60 * 60),
  SIGN_IN_ATTEMPTS_PER_MINUTE: "0",
  RATE_LIMIT_PER_MINUTE: "0",
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: "0",
  ALLOW_PRIVATE_NETWORK: "true",
  LOG_LEVEL: "warn",
}

/**
 * The world of a test file (or of a `describe`): opened before its tests, closed and dropped after them. The parts of the answer may be
 * taken apart at once; they are filled in before the first test.
 * @example const { acme, rest } = world()
 */
export function world(options: WorldOptions = {}): World {
  const made = { acme: {}, globex: {}, logged: [], clock } as unknown as World
  const closers: (() => Promise<unknown>)[] = []
  Object.assign(made, {
    rest: makeRest(
      () => made.url,
      (method, path, response) => {
        if (response.status === 500)
          throw broken("no request is answered with 500", `${method} ${path}\n${JSON.stringify(made.logged.at(-1), null, 2)}`)
        made.fits(method, path, response)
      },
    ),
    gql: makeGql(() => made.url),
    async runDue() {
      await happens("the sweep of due replies has ended", reply.sweep.run(made.services))
      await happens("no work is running", made.services.running.idle())
    },
    async sql(text: string, values?: unknown[]) {
      return (await happens(`the database answers: ${text.slice(0, 200)}`, made.services.database.pool.query(text, values))).rows
    },
    async another(more: WorldOptions = {}) {
      const { server, url } = await start(made, { DATA_DIR: made.services.config.dataDir, ...options, ...more })
      const stop = () => happens("the second server has stopped", server.stop())
      closers.push(stop)
      return { url, services: server.services, stop }
    },
  })
  beforeAll(async () => {
    const { databaseUrl, drop } = await happens("the template is copied", copyOfTemplate())
    made.databaseUrl = databaseUrl
    const hidden = [
      showInWaits("statements", statementsUnderWay),
      showInWaits(`log of ${new URL(databaseUrl).pathname}`, () => made.logged.slice(-5)),
    ]
    closers.push(drop, async () => hidden.forEach((hide) => void hide()))
    const folder = await folderOfWorld()
    closers.push(() => rm(folder, { recursive: true }))
    const { server, url } = await happens("the server has started", start(made, { DATA_DIR: folder, ...options }))
    closers.push(server.stop)
    made.url = url
    made.services = server.services
    const contract = await readOpenApi(url)
    made.openapi = contract.document
    made.fits = contract.fits
    for (const [name, company] of [["Acme", made.acme] as const, ["Globex", made.globex] as const]) {
      Object.assign(company, companyFixture(made, await createCompany(server.services, name)))
    }
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await happens("the test server is stopped and its database dropped", close())
  })
  return made
}

async function start(made: World, options: WorldOptions): Promise<{ server: RunningServer; url: string }> {
  const { TEST_MONGODB_URL: mongo } = process.env
  // Each world has its own database there too.
  const jobs = mongo ? { MONGODB_URL: new URL(new URL(made.databaseUrl).pathname, mongo).href } : {}
  const config = readConfig({ ...usual, ...jobs, DATABASE_URL: made.databaseUrl, ...options })
  const log = pino({ level: config.logLevel }, { write: (line: string) => void made.logged.push(JSON.parse(line)) })
  const server = await startServer(config, config.databaseUrl!, log)
  return { server, url: `http://127.0.0.1:${server.port}` }
}

/** A DATA_DIR of its own: a sweep by the moved clock of one world would remove the files that arrive in another. */
async function folderOfWorld(): Promise<string> {
  return mkdtemp(join(process.env["TEST_DATA_DIR"]!, "world-"))
}

/** A database of its own, copied from the migrated template. */
async function copyOfTemplate() {
  const { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuser, TEST_TEMPLATE: template } = process.env
  if (!url || !superuser) throw new Error("No database to test with: run the tests with `npm test`, or `node dist/test/kit/run.js FILE`")
  const name = `world_${randomBytes(6).toString("hex")}`
  const databaseUrl = new URL(url)
  databaseUrl.pathname = `/${name}`
  await administer(superuser, `create database ${name} owner ${SERVER_ROLE} template ${template}`)
  // Without force: PostgreSQL waits some seconds for those who are leaving, and a connection that a stopped server left behind is a failure.
  return { databaseUrl: databaseUrl.href, drop: () => administer(superuser, `drop database ${name}`) }
}

/** What the database does while a test waits: who holds the lock, or all the connections. */
async function statementsUnderWay() {
  const client = new pg.Client({ connectionString: process.env["TEST_SUPERUSER_URL"]! })
  await client.connect()
  try {
    const { rows } = await client.query(
      `select datname, pid, state, wait_event_type || ' ' || wait_event as waits, pg_blocking_pids(pid) as blocked_by,
         (now() - xact_start)::text as in_transaction, left(query, 200) as query
       from pg_stat_activity where datname like 'world%' and state <> 'idle' and pid <> pg_backend_pid() order by xact_start`,
    )
    return rows
  } finally {
    await client.end()
  }
}

async function administer(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}
