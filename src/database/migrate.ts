import { readdir } from "node:fs/promises"
import { PostgresBackend } from "@agendajs/postgres-backend"
import { Pool } from "pg"
import { operatorError } from "../errors/operator-error.js"
import type { Database } from "./connect.js"
import { partsOf } from "./place.js"

/** Advisory lock of the process that changes the schema; any number, the same in every version. */
const schemaLock = 7_304_211

/** Foreign tables that an error names. */
const shownTables = 5

/** Migrates the schema, one process at a time; throws when the schema is newer than the code, or another program's. */
export const migrate = (database: Database): Promise<void> => locked(database, () => migrateLocked(database))

/**
 * Makes the tables of an older or equal version in a database without companies, for rows that are loaded into them; throws when the database has
 * companies, is another program's, or when this version does not know the migrations. `place` names the database in that error.
 */
export const makeTablesOf = (database: Database, migrations: string[], place: string): Promise<void> =>
  locked(database, async () => {
    const known = await knownMigrations(database)
    const unknown = migrations.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw operatorError(`It is of a newer version, whose migrations this one does not know: ${unknown.join(", ")}`)
    await refuseForeignSchema(database)
    const tables = (await database.pool.query<{ name: string }>(tablesOfSchema)).rows.map(({ name }) => `"${name}"`)
    if (tables.includes('"company"') && (await database.pool.query("select from company limit 1")).rowCount)
      throw operatorError(`The database has companies already: restore into an empty one (${place})`)
    // What a start without companies, or an interrupted restore, has made.
    if (tables.length > 0) await database.pool.query(`drop table ${tables.join(", ")} cascade`)
    for (const { drop } of (await database.pool.query<{ drop: string }>(functionsOfSchema)).rows) await database.pool.query(drop)
    await database.orm.migrator.up({ migrations })
  })

/** Does something while no other process migrates. */
async function locked(database: Database, work: () => Promise<void>): Promise<void> {
  // A separate connection holds the lock while the pool runs the migrations.
  const pool = new Pool({ connectionString: database.url, max: 1 })
  pool.on("error", () => {})
  const client = await pool.connect()
  // Without the connection the lock is lost. A listener is needed even so: without one the error would end the process at once.
  const lost = new Promise<never>((_resolve, reject) => client.on("error", reject))
  try {
    await Promise.race([lost, client.query("select pg_advisory_lock($1)", [schemaLock]).then(work)])
  } finally {
    client.release(true)
    await pool.end()
  }
}

async function migrateLocked(database: Database) {
  await refuseForeignSchema(database)
  try {
    await refuseNewerSchema(database)
    await database.orm.migrator.up()
    // Under the lock, because Agenda creates its tables and two processes that do so at once crash.
    await new PostgresBackend({ pool: database.pool }).connect()
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    if (!code || !mayNotCreate.includes(code)) throw error
    throw operatorError(`The tables cannot be created or changed: ${message}. The role in DATABASE_URL must own the database.`, error)
  }
}

/** PostgreSQL's codes for a missing right, a missing schema and a server that can only be read. */
const mayNotCreate = ["42501", "3F000", "25006"]

const migrationTable = "mikro_orm_migrations"

/** Tables of the schema in which migrations create theirs, except those of extensions. */
const tablesOfSchema = `
  select relname as name from pg_class
  where relnamespace = to_regnamespace(current_schema()::text) and relkind in ('r', 'p', 'f')
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
  order by relname`

/** Statements that drop the functions of migrations. */
const functionsOfSchema = `
  select format('drop function if exists %s cascade', oid::regprocedure) as drop from pg_proc
  where pronamespace = to_regnamespace(current_schema()::text)
    and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')`

/** Throws, before anything is written, when the database has tables and no migration of this program created them. */
async function refuseForeignSchema(database: Database) {
  const tables = (await database.pool.query<{ name: string }>(tablesOfSchema)).rows.map(({ name }) => name)
  const known = await knownMigrations(database)
  const executed = tables.includes(migrationTable) ? (await database.pool.query(`select name from ${migrationTable}`)).rows : []
  if (executed.some(({ name }) => known.includes(name))) return
  const foreign = tables.filter((name) => name !== migrationTable || executed.length > 0)
  if (foreign.length === 0) return
  const { database: name, server } = partsOf(database.url)
  const shown = foreign.length > shownTables ? [...foreign.slice(0, shownTables), "…"] : foreign
  throw operatorError(
    `The database ${name} at ${server} belongs to another program, whose tables are ${shown.join(", ")}: give this server a database of its own.`,
  )
}

/** Names of the migrations of this version, oldest first. */
async function knownMigrations({ orm }: Database): Promise<string[]> {
  const files = await readdir(orm.config.get("migrations").path!)
  return [...new Set(files.map((file) => file.replace(/\.(d\.)?[jt]s(\.map)?$/, "")))].filter((name) => /^Migration\d/.test(name)).sort()
}

/** Name of the last migration of this version, which every start has run. */
export const lastMigration = async (database: Database): Promise<string> => (await knownMigrations(database)).at(-1)!

async function refuseNewerSchema(database: Database) {
  const known = await knownMigrations(database)
  const executed = await database.orm.migrator.getExecuted()
  const unknown = executed.map((migration) => migration.name).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw operatorError(`The database has a newer schema than this version knows (${unknown.join(", ")}); start a newer version`)
}
