import { readFile } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import type { Config } from "../config/config.js"
import { clock } from "../entities/kit/clock.js"
import { serverVersion } from "../http/version.js"
import type { Storage } from "../ports/storage.js"
import { BackupWriter, checkOf, type Manifest } from "./backup-file.js"
import { rowsOf, sequencesOf, tablesOf } from "./backup-tables.js"
import { type CommandContext, Refusal } from "./kit.js"
import { adminLimits } from "./limits.js"

/** Files of DATA_DIR that a backup has where they exist: the keys, and the credentials of the demo. */
export const dataFiles = ["secrets.json", "demo.json"] as const

/** What a backup is made of. */
export type BackupSource = Pick<CommandContext, "config" | "database" | "secrets">

/**
 * Writes the database as it is at one moment, the uploaded files and the keys to a ZIP file, also while servers run. The tables are in
 * PostgreSQL's text format, so that a backup does not depend on the version or the kind of the database.
 */
export async function backUp(
  { config, database, secrets }: BackupSource,
  storage: Storage,
  path: string,
  mayMissFiles = false,
): Promise<object> {
  const client = new pg.Client({ connectionString: database.url })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  const file = await BackupWriter.create(path)
  try {
    await client.connect()
    await client.query("begin isolation level repeatable read read only")
    const { rows: executed } = await client.query("select name from mikro_orm_migrations order by id")
    const tables = await addTables(client, file)
    const sequences = await sequencesOf(client)
    const media = await addMedia(client, file, storage)
    // What follows is not of that moment.
    await client.query("commit")
    if (!mayMissFiles) await refuseMissing(client, config, media)
    const files = await addDataFiles(config.dataDir, file)
    const manifest: Manifest = {
      format: 1,
      version: serverVersion,
      createdAt: clock.now().toISOString(),
      migrations: executed.map(({ name }) => name),
      tables,
      sequences,
      media,
      encryptionKeyCheck: checkOf(secrets.encryptionKey),
    }
    await file.complete(manifest)
    const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
    return { file: path, version: serverVersion, createdAt: manifest.createdAt, tables: Object.keys(tables).length, rows, media, files }
  } catch (error) {
    await file.abandon()
    throw error
  } finally {
    await client.end()
  }
}

async function addTables(client: pg.Client, file: BackupWriter): Promise<Manifest["tables"]> {
  const tables: Manifest["tables"] = {}
  for (const [table, columns] of Object.entries(await tablesOf(client))) {
    const rows = rowsOf(client, table, columns)
    await file.add(`tables/${table}`, rows)
    tables[table] = { columns, rows: rows.rowCount }
  }
  return tables
}

/** The stored files of the rows that were read: those that have arrived. A file that is deleted meanwhile is missing. */
async function addMedia(client: pg.Client, file: BackupWriter, storage: Storage): Promise<Manifest["media"]> {
  const media: Manifest["media"] = { files: 0, bytes: 0, missing: [] }
  for (let last = "00000000-0000-0000-0000-000000000000"; ; ) {
    const { rows } = await client.query<{ id: string; key: string; size: string }>(
      `select id, storage_key as key, size from media where sha256 <> '' and id > $1 order by id limit ${adminLimits.backupBatch}`,
      [last],
    )
    for (const { key, size } of rows) {
      const content = await storage.read(key)
      if (!content) {
        media.missing.push(key)
        continue
      }
      // Pictures, audio and video are compressed already.
      await file.add(`media/${key}`, content, false)
      media.files += 1
      media.bytes += Number(size)
    }
    const next = rows.at(-1)
    if (!next) return media
    last = next.id
  }
}

/** Throws when the storage has none of the database's files, as when the command has another DATA_DIR than the server. */
async function refuseMissing(client: pg.Client, config: Config, { files, missing }: Manifest["media"]): Promise<void> {
  if (files > 0 || missing.length === 0) return
  const { rows } = await client.query("select 1 from media where storage_key = any($1)", [missing])
  if (rows.length === 0) return
  const place = config.s3 ? `the bucket ${config.s3.bucket}` : join(config.dataDir, "media")
  throw new Refusal(
    `None of ${missing.length} uploaded files is in ${place}: the command needs the DATA_DIR or S3 variables of the server. With --allow-missing the backup is made without files`,
  )
}

async function addDataFiles(dataDir: string, file: BackupWriter): Promise<string[]> {
  const added: string[] = []
  for (const name of dataFiles) {
    const text = await readFile(join(dataDir, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null
      throw error
    })
    if (text === null) continue
    file.addText(`data/${name}`, text)
    added.push(name)
  }
  return added
}
