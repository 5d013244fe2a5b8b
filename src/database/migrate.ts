import { readdir } from "node:fs/promises"
import { PostgresBackend } from "@agendajs/postgres-backend"
import { Pool } from "pg"
import { operatorError } from "../operator-error.js"
import type { Database } from "./connect.js"

/** Advisory lock of the process that changes the schema; any number, the same in every version. */
const schemaLock = 7_304_211

/** Migrates the schema, one process at a time; throws when the schema is newer than the code. */
export async function migrate(database: Database): Promise<void> {
  // A separate connection holds the lock while the pool runs the migrations.
  const pool = new Pool({ connectionString: database.url, max: 1 })
  pool.on("error", () => {})
  const client = await pool.connect()
  // Without the connection the lock is lost. A listener is needed even so: without one the error would end the process at once.
  const lost = new Promise<never>((_resolve, reject) => client.on("error", reject))
  try {
    await Promise.race([lost, client.query("select pg_advisory_lock($1)", [schemaLock]).then(() => migrateLocked(database))])
  } finally {
    client.release(true)
    await pool.end()
  }
}

async function migrateLocked(database: Database) {
  await refuseNewerSchema(database)
  await database.orm.migrator.up()
  // Under the lock, because Agenda creates its tables and two processes that do so at once crash.
  await new PostgresBackend({ pool: database.pool }).connect()
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
