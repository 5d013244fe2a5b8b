import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { type Program, startProgram } from "./contestants.js"
import { filling, type Size } from "./fill.js"
import { cpuMs, root } from "./processes.js"
import { earlierVersion } from "./requests.js"
import { filter, search, storeMessage } from "./statements.js"

/** The PostgreSQL server of a run. */
export interface FilledServer {
  admin: pg.Client
  urlOf(name: string): string
  size: Size
  say(line: string): void
}

/** The filled databases of a size, which are kept for the next run: that of this version, and that of an earlier one whose schema is another. */
export const filledNames = ({ chats, others }: Size) => {
  const ours = others === 0 ? `bench_filled_${chats}` : `bench_filled_${chats}_in_${others + 1}`
  return { ours, before: `${ours}_earlier` }
}

/** Whether the earlier version needs a database of its own: it does not start on a newer schema. */
export const isSchemaOther = earlierVersion !== null && schemaOf(earlierVersion) !== schemaOf(root)

/** Fills the databases of a run, unless they are there: the rows are the same in both. */
export async function ensureFilled(server: FilledServer): Promise<void> {
  const filled = filledNames(server.size)
  if (!isSchemaOther) return ensure(server, { name: filled.ours, version: "ours", template: "template1" })
  await ensure(server, { name: filled.before, version: "before", template: "template1" })
  await ensure(server, { name: filled.ours, version: "ours", template: filled.before })
}

/** A filled database, as it is to be made. */
interface Filled {
  name: string
  version: Program
  /** The database that it is a copy of, with the rows of an earlier version or none. */
  template: string
}

/** Makes a database, unless there is one with these rows: then its schema is brought to that of the version, as by an upgrade. */
async function ensure(server: FilledServer, { name, version, template }: Filled) {
  const { admin, urlOf, say, size } = server
  const rows = rowsOf(size)
  const wanted = `${rows} ${schemaOf(version === "ours" ? root : earlierVersion!)}`
  const { rows: found } = await admin.query("select shobj_description(oid, 'pg_database') as made from pg_database where datname = $1", [
    name,
  ])
  const made = String(found[0]?.made)
  if (made === wanted) return
  say(`making the database ${name} …`)
  const begin = performance.now()
  const isUpgrade = version === "ours" && made.startsWith(rows) && (await canUpgrade(urlOf(name), made))
  if (!isUpgrade) {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.query(`create database ${name} template ${template}`)
  }
  if (isUpgrade || template !== "template1") await migrated(version, urlOf(name), true)
  else await fill(server, version, urlOf(name))
  const client = new pg.Client({ connectionString: urlOf(name) })
  await client.connect()
  await client.query("vacuum (analyze, freeze)")
  await client.end()
  await admin.query(`comment on database ${name} is '${wanted}'`)
  say(`made in ${Math.round((performance.now() - begin) / 1000)} s`)
}

/** Whether a database was made by migrations that this version has, and has as they were: one that was changed while it was written has to be filled again. */
async function canUpgrade(url: string, made: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select name from mikro_orm_migrations")
  await client.end()
  const run = new Set(rows.map(({ name }) => `${name}.ts`))
  return made.endsWith(schemaOf(root, (file) => run.has(file)))
}

/** Migrates an empty database with the code of a version and fills it. */
async function fill({ size, say }: FilledServer, version: Program, url: string) {
  await migrated(version, url, false)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  say(`filling ${size.chats} chats …`)
  await client.query("set synchronous_commit = off")
  for (const statement of filling(size)) {
    const begin = performance.now()
    await client.query(statement)
    const seconds = (performance.now() - begin) / 1000
    if (seconds > 5) say(`${seconds.toFixed(0)} s for ${statement.trim().slice(0, 60)} …`)
  }
  for (const statement of storedProcedures) await client.query(statement)
  await client.end()
  // What is made of the rows in the background is made.
  await migrated(version, url, true)
}

/** Starts the server of a version on a database and ends it: at once, or after its work in the background. */
async function migrated(version: Program, url: string, waits: boolean) {
  const server = await startProgram(version, { url, companyId: "" })
  if (waits) await untilIdle(server.pid, url)
  await server.stop()
}

/** Waits until a process has used little CPU time for twenty seconds, which is longer than the pauses of a sweep, and no number of chats waits to be added. */
async function untilIdle(pid: number, url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const isCounting = async () => {
    const { rows } = await client.query("select to_regclass('chat_count_change') is not null as keeps")
    return rows[0].keeps && (await client.query("select from chat_count_change limit 1")).rows.length > 0
  }
  for (let used = Number.POSITIVE_INFINITY; used > 1_000 || (await isCounting()); ) {
    const before = cpuMs(pid)
    await sleep(20_000)
    used = cpuMs(pid) - before
  }
  await client.end()
}

/** Changes with the rows of filled databases of a size. */
const rowsOf = (size: Size) =>
  createHash("sha256")
    .update(`${filling(size).join()} ${storedProcedures.join()}`)
    .digest("hex")

/** Changes with the migrations of a version, or with some of them. */
function schemaOf(directory: string, isOf: (file: string) => boolean = () => true): string {
  const hash = createHash("sha256")
  const migrations = join(directory, "migrations")
  for (const file of readdirSync(migrations).sort())
    if (file.endsWith(".ts") && isOf(file)) hash.update(readFileSync(join(migrations, file)))
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
