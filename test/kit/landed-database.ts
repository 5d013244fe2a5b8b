import { readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { PostgresBackend } from "@agendajs/postgres-backend"
import { connect } from "../../src/database/connect.js"
import type { EmptyDatabase } from "./databases.js"

/**
 * A database of a version that landed, as JSON: its migrations, its rows, and what its REST routes answered. Made by scripts/landed-database.ts in a
 * checkout of that version.
 */
export interface LandedDatabase {
  demo: { token: string; email: string; password: string; widgetId: string; assistantId: string }
  /** A chat with a customer's message whose reply was due when the old server ended. */
  dueChatId: string
  answers: Record<string, unknown>
  migrations: string[]
  rows: Record<string, Record<string, unknown>[]>
}

const folder = "test/fixtures/landed"

/** The last migrations of the versions that there is a database of, oldest first. */
export const landedVersions: string[] = readdirSync(folder)
  .map((file) => file.replace(".json.gz", ""))
  .sort()

/** The database of a version. */
export const landedDatabase = (version: string): LandedDatabase =>
  JSON.parse(gunzipSync(readFileSync(`${folder}/${version}.json.gz`)).toString())

/** Brings an empty database to the state of an older version: its migrations, then its rows as they were. */
export async function restoreLanded(database: EmptyDatabase, landed: LandedDatabase) {
  const older = await connect(database.url)
  await older.orm.migrator.up({ migrations: landed.migrations })
  await new PostgresBackend({ pool: older.pool }).connect()
  for (const [table, rows] of Object.entries(landed.rows)) {
    const columns = await database.sql(
      "select string_agg(quote_ident(column_name), ', ') as list from information_schema.columns where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'",
      [table],
    )
    const { list } = columns[0]
    // In one statement with triggers and references off: the rows are consistent with one another, whatever their order.
    const text = `with off as (select set_config('session_replication_role', 'replica', true))
      insert into "${table}" (${list}) overriding system value select ${list} from off, json_populate_recordset(null::"${table}", $1)`
    await database.sql(`delete from "${table}"`)
    await database.asSuperuser(text, [JSON.stringify(rows)])
    await database.sql(
      `select setval(pg_get_serial_sequence($1, column_name), (select max((to_jsonb(t) ->> column_name)::bigint) from "${table}" t))
       from information_schema.columns where table_schema = 'public' and table_name = $1 and pg_get_serial_sequence($1, column_name) is not null`,
      [table],
    )
  }
  await older.close()
}
