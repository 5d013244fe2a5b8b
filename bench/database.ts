import "reflect-metadata"
import pg from "pg"
import { AccessToken } from "../src/entities/access-token.js"
import type { Program } from "./contestants.js"
import { measuredCompany, type Size } from "./fill.js"
import { ensureFilled, filledNames, isSchemaOther } from "./filled.js"
import type { Options } from "./options.js"
import { type BenchPostgres, openPostgres } from "./postgres.js"
import type { Contestant } from "./requests.js"

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

/** PostgreSQL's version and the size of its cache, on which figures depend. */
export async function described(client: pg.Client): Promise<string> {
  const { rows } = await client.query("select current_setting('server_version') as version, current_setting('shared_buffers') as cache")
  return `PostgreSQL ${rows[0].version} with shared_buffers of ${rows[0].cache}`
}

/** Opens the server, fills its databases when needed, and copies them; the stack closes all. */
export async function openDatabases(stack: AsyncDisposableStack, { size }: Options, say: (line: string) => void): Promise<BenchDatabases> {
  const postgres = await openPostgres(stack, say)
  await ensureFilled({ ...postgres, size, say })
  const filled = filledNames(size)
  const database = await copyOf(postgres, stack, filled.ours, "bench")
  const earlier = isSchemaOther ? await copyOf(postgres, stack, filled.before, "bench_earlier") : database
  await postgres.admin.query("checkpoint")
  return { database, earlier }
}

/** Opens copies of two databases of this version: one of the size, and one with a tenth of the chats in as many companies. */
export async function openWithTenth(stack: AsyncDisposableStack, { size }: Options, say: (line: string) => void) {
  const postgres = await openPostgres(stack, say)
  const copied = async (of: Size, copy: string) => {
    await ensureFilled({ ...postgres, size: of, say })
    return copyOf(postgres, stack, filledNames(of).ours, copy)
  }
  const all = await copied(size, "bench")
  const tenth = await copied({ ...size, chats: size.chats / 10 }, "bench_tenth")
  await postgres.admin.query("checkpoint")
  return { all, tenth }
}

/** Copies a filled database, and opens the copy. */
async function copyOf({ create, urlOf }: BenchPostgres, stack: AsyncDisposableStack, name: string, copy: string): Promise<BenchDatabase> {
  await create(copy, name)
  return open(stack, urlOf(copy))
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
