import "reflect-metadata"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { recall } from "../src/database/embedded/home.js"
import { openEmbedded } from "../src/database/embedded/open.js"
import { superuserUrl } from "../src/database/embedded/roles.js"
import { AccessToken } from "../src/entities/access-token.js"
import type { Program } from "./contestants.js"
import { measuredCompany, type Size } from "./fill.js"
import { ensureFilled, filledNames, isSchemaOther } from "./filled.js"
import type { Options } from "./options.js"
import type { Contestant } from "./requests.js"

const here = fileURLToPath(new URL(".", import.meta.url))

/** A copy of a filled database, so that every run begins with the same rows. */
export interface BenchDatabase {
  url: string
  client: pg.Client
  companyId: string
  /** The company's access token; created for this run. */
  token: string
  /** Vacuums the tables that the workloads write. */
  tidy(): Promise<void>
  /** Turns on autovacuum, which is off until then. */
  letVacuum(): Promise<void>
}

/** The databases of a run: of this version and the others, and of an earlier one, which is the same where the schema is. */
export interface BenchDatabases {
  database: BenchDatabase
  earlier: BenchDatabase
}

/** The database that a contestant, or its program, works on. */
export const databaseOf = ({ database, earlier }: BenchDatabases, contestant: Contestant | Program) =>
  contestant.startsWith("before") ? earlier : database

/** The PostgreSQL server of a run: BENCH_DATABASE_URL, else the embedded one in bench/data. */
interface BenchServer {
  admin: pg.Client
  urlOf(name: string): string
}

async function openServer(stack: AsyncDisposableStack, say: (line: string) => void): Promise<BenchServer> {
  const given = process.env["BENCH_DATABASE_URL"]
  const dataDir = join(here, "data")
  const embedded = given ? null : await openEmbedded({ dataDir, role: "command", log: say })
  stack.defer(() => embedded?.stop())
  const superuser = given ?? superuserUrl(recall(dataDir)!)
  const urlOf = (name: string) => Object.assign(new URL(superuser), { pathname: `/${name}` }).href
  const admin = new pg.Client({ connectionString: superuser })
  await admin.connect()
  stack.defer(() => admin.end())
  await quiet(admin)
  return { admin, urlOf }
}

/** PostgreSQL's version and the size of its cache, on which figures depend. */
export async function described(client: pg.Client): Promise<string> {
  const { rows } = await client.query("select current_setting('server_version') as version, current_setting('shared_buffers') as cache")
  return `PostgreSQL ${rows[0].version} with shared_buffers of ${rows[0].cache}`
}

/** Copies a filled database, and opens the copy. */
async function copyOf({ admin, urlOf }: BenchServer, stack: AsyncDisposableStack, name: string, copy: string): Promise<BenchDatabase> {
  await admin.query(`drop database if exists ${copy} with (force)`)
  // The other strategy writes each page twice: to the log, too. A copy of files begins outside of PostgreSQL's cache.
  await admin.query(`create database ${copy} template ${name} strategy file_copy`)
  return open(stack, urlOf(copy))
}

/** Opens the server, fills its databases when needed, and copies them; the stack closes all. */
export async function openDatabases(stack: AsyncDisposableStack, { size }: Options, say: (line: string) => void): Promise<BenchDatabases> {
  const server = await openServer(stack, say)
  await ensureFilled({ ...server, size, say })
  const filled = filledNames(size)
  const database = await copyOf(server, stack, filled.ours, "bench")
  const earlier = isSchemaOther ? await copyOf(server, stack, filled.before, "bench_earlier") : database
  await server.admin.query("checkpoint")
  return { database, earlier }
}

/** Opens copies of two databases of this version: one of the size, and one with a tenth of the chats in as many companies. */
export async function openWithTenth(stack: AsyncDisposableStack, { size }: Options, say: (line: string) => void) {
  const server = await openServer(stack, say)
  const copied = async (of: Size, copy: string) => {
    await ensureFilled({ ...server, size: of, say })
    return copyOf(server, stack, filledNames(of).ours, copy)
  }
  const all = await copied(size, "bench")
  const tenth = await copied({ ...size, chats: size.chats / 10 }, "bench_tenth")
  await server.admin.query("checkpoint")
  return { all, tenth }
}

async function open(stack: AsyncDisposableStack, url: string): Promise<BenchDatabase> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stack.defer(() => client.end())
  const companyId: string = (await client.query("select id from company where name = $1", [measuredCompany])).rows[0].id
  const token = AccessToken.issue(companyId, "bench", null)
  await client.query(
    "insert into access_token (id, created_at, updated_at, company_id, name, token_prefix, digest) values ($1, now(), now(), $2, $3, $4, $5)",
    [token.id, companyId, token.name, token.tokenPrefix, token.digest],
  )
  // Vacuumed between rounds instead, so that no contestant is measured during a vacuum that another one caused.
  const autovacuum = async (what: string) => {
    for (const table of vacuumed) await client.query(`alter table ${table} ${what}`)
  }
  await autovacuum("set (autovacuum_enabled = off)")
  const tidy = async () => {
    for (const table of vacuumed) await client.query(`vacuum (analyze) ${table}`)
  }
  return { url, client, companyId, token: token.token!, tidy, letVacuum: () => autovacuum("reset (autovacuum_enabled)") }
}

const vacuumed = ["chat", "message", "event"]

/** Prevents automatic checkpoints during a measurement; each round begins with one. A server given by BENCH_DATABASE_URL is not configured. */
export async function quiet(admin: pg.Client) {
  if (process.env["BENCH_DATABASE_URL"]) return
  await admin.query("alter system set checkpoint_timeout = '1h'")
  await admin.query("alter system set max_wal_size = '8GB'")
  await admin.query("select pg_reload_conf()")
}
