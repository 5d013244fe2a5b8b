import type { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Client } from "pg"
import { from, to } from "pg-copy-streams"
import { Refusal } from "./kit.js"

/** Tables that are not part of a backup: Agenda's jobs, which a start stores again, and the list of migrations, which the restore runs. */
const leftOut = "^(agenda_|mikro_orm_migrations)"

/** The tables of the platform with their stored columns; generated ones are computed. */
export async function tablesOf(client: Client): Promise<Record<string, string[]>> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname !~ $1
     group by c.relname order by c.relname`,
    [leftOut],
  )
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const listed = (columns: string[]) => columns.map(quoted).join(", ")

/** The rows of a table in PostgreSQL's text format; `rowCount` is their number once they were read. */
export const rowsOf = (client: Client, table: string, columns: string[]): Readable & { rowCount: number } =>
  client.query(to(`copy (select ${listed(columns)} from ${quoted(table)}) to stdout`))

/** The last value of each sequence that has given one. */
export async function sequencesOf(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select sequencename::text as name, last_value::text as value from pg_sequences
     where schemaname = 'public' and last_value is not null and sequencename !~ $1`,
    [leftOut],
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** A table of a backup. */
export interface BackedUpTable {
  columns: string[]
  rows: number
}

/**
 * Replaces the rows of tables in one transaction: what the migrations stored is removed first, and no trigger runs, since what triggers derive is
 * in the backup, too. References and the numbers of rows are checked at the end; then `beforeCommit` does what must be done before the rows are there.
 */
export async function loadTables(
  client: Client,
  tables: Record<string, BackedUpTable>,
  sequences: Record<string, string>,
  open: (table: string) => Promise<Readable>,
  beforeCommit: () => Promise<void>,
): Promise<void> {
  const names = Object.keys(tables).map(quoted)
  await client.query("begin")
  await client.query(`truncate ${names.join(", ")}`)
  for (const name of names) await client.query(`alter table ${name} disable trigger user`)
  for (const [table, { columns, rows }] of Object.entries(tables)) {
    const copy = client.query(from(`copy ${quoted(table)} (${listed(columns)}) from stdin`))
    await pipeline(await open(table), copy)
    if (copy.rowCount !== rows) throw new Refusal(`The table ${table} has ${copy.rowCount} rows in the backup, which should have ${rows}`)
  }
  // The references are checked here; a table with unchecked ones cannot be altered.
  await client.query("set constraints all immediate")
  for (const name of names) await client.query(`alter table ${name} enable trigger user`)
  for (const [name, value] of Object.entries(sequences)) await client.query("select setval($1::regclass, $2)", [quoted(name), value])
  await beforeCommit()
  await client.query("commit")
  await client.query("analyze")
}
