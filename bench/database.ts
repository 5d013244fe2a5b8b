import "reflect-metadata"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { connect } from "../src/database/connect.js"
import { recall } from "../src/database/embedded/home.js"
import { openEmbedded } from "../src/database/embedded/open.js"
import { superuserUrl } from "../src/database/embedded/roles.js"
import { migrate } from "../src/database/migrate.js"
import { AccessToken } from "../src/entities/access-token.js"
import { filling } from "./fill.js"
import type { Options } from "./options.js"
import { filter, search, storeMessage } from "./statements.js"

const here = fileURLToPath(new URL(".", import.meta.url))
const filled = "bench_filled"
const used = "bench"

/** The database of a run: a copy of the filled one, so that every run begins with the same rows. */
export interface BenchDatabase {
  url: string
  client: pg.Client
  companyId: string
  /** The company's access token; created for this run. */
  token: string
  /** Turns on autovacuum, which is off until then. */
  letVacuum(): Promise<void>
  close(): Promise<void>
}

/** Opens the server (BENCH_DATABASE_URL, else the embedded one in bench/data), fills it when needed, and copies the filled database. */
export async function openDatabase(options: Options, say: (line: string) => void): Promise<BenchDatabase> {
  const given = process.env["BENCH_DATABASE_URL"]
  await using stack = new AsyncDisposableStack()
  const dataDir = join(here, "data")
  const embedded = given ? null : await openEmbedded({ dataDir, role: "command", log: say })
  stack.defer(() => embedded?.stop())
  const superuser = given ?? superuserUrl(recall(dataDir)!)
  const urlOf = (name: string) => Object.assign(new URL(superuser), { pathname: `/${name}` }).href
  const admin = new pg.Client({ connectionString: superuser })
  await admin.connect()
  await quiet(admin)
  await ensureFilled(admin, urlOf(filled), options, say)
  await admin.query(`drop database if exists ${used} with (force)`)
  await admin.query(`create database ${used} template ${filled}`)
  await admin.query("checkpoint")
  await admin.end()

  const client = new pg.Client({ connectionString: urlOf(used) })
  await client.connect()
  stack.defer(() => client.end())
  const companyId: string = (await client.query("select id from company")).rows[0].id
  const token = AccessToken.issue(companyId, "bench", null)
  await client.query(
    "insert into access_token (id, created_at, updated_at, company_id, name, token_prefix, digest) values ($1, now(), now(), $2, $3, $4, $5)",
    [token.id, companyId, token.name, token.tokenPrefix, token.digest],
  )
  // Vacuumed between rounds instead, so that no contestant is measured during a vacuum that another one caused.
  const autovacuum = async (what: string) => {
    for (const table of ["chat", "message", "event"]) await client.query(`alter table ${table} ${what}`)
  }
  await autovacuum("set (autovacuum_enabled = off)")
  const opened = stack.move()
  return {
    url: urlOf(used),
    client,
    companyId,
    token: token.token!,
    letVacuum: () => autovacuum("reset (autovacuum_enabled)"),
    close: () => opened.disposeAsync(),
  }
}

/** Prevents automatic checkpoints during a measurement; each round begins with one. A server given by BENCH_DATABASE_URL is not configured. */
export async function quiet(admin: pg.Client) {
  if (process.env["BENCH_DATABASE_URL"]) return
  await admin.query("alter system set checkpoint_timeout = '1h'")
  await admin.query("alter system set max_wal_size = '8GB'")
  await admin.query("select pg_reload_conf()")
}

async function ensureFilled(admin: pg.Client, url: string, options: Options, say: (line: string) => void) {
  const wanted = fingerprint(options)
  const { rows } = await admin.query("select shobj_description(oid, 'pg_database') as made from pg_database where datname = $1", [filled])
  if (rows[0]?.made === wanted) return
  say(`filling ${options.chats} chats with ${options.messages} messages …`)
  const begin = performance.now()
  await admin.query(`drop database if exists ${filled} with (force)`)
  await admin.query(`create database ${filled}`)
  const database = await connect(url)
  await migrate(database)
  await database.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("set synchronous_commit = off")
  for (const statement of filling(options.chats)) await client.query(statement)
  for (const statement of storedProcedures) await client.query(statement)
  await client.query("vacuum (analyze, freeze)")
  await client.end()
  await admin.query(`comment on database ${filled} is '${wanted}'`)
  say(`filled in ${Math.round((performance.now() - begin) / 1000)} s`)
}

/** A hash that changes whenever the content of a filled database would change. */
function fingerprint(options: Options): string {
  const hash = createHash("sha256").update(`${options.chats} ${filling(options.chats).join()} ${storedProcedures.join()}`)
  const migrations = join(here, "../migrations")
  for (const file of readdirSync(migrations).sort()) if (file.endsWith(".ts")) hash.update(readFileSync(join(migrations, file)))
  return hash.digest("hex")
}

/** What PostGraphile does not derive from the tables: the lists of W3 and W4, and W5, with the statement of LIMIT, as a mutation. */
const storedProcedures = [
  "create schema bench",
  listFunction("filtered_chats(in_company uuid, in_messenger text, in_tags uuid[])", filter("in_company", "in_messenger", "in_tags")),
  listFunction("found_chats(in_company uuid, in_term text)", search("in_company", "'%' || in_term || '%'")),
  `create function bench.post_message(in_chat uuid, in_text text) returns public.message language plpgsql volatile as $$
   declare new_id uuid := uuidv7(); stored public.message;
   begin
     ${storeMessage("new_id", "in_chat", "in_text", "made.*")} into stored;
     return stored;
   end $$`,
]

function listFunction(declared: string, condition: string): string {
  return `create function bench.${declared} returns setof public.chat language sql stable
    as $$ select t.* from public.chat t where ${condition} order by t.recency desc, t.id desc $$`
}
