import { createHash } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"
import pg from "pg"
import type { Config } from "../config/config.js"
import { dataFolder } from "../config/data-folder.js"
import { loadSecrets } from "../config/secrets.js"
import { connect, type Database } from "../database/connect.js"
import { openEmbedded } from "../database/embedded/open.js"
import { makeTablesOf, migrate } from "../database/migrate.js"
import { storage } from "../ports/index.js"
import type { Storage } from "../ports/storage.js"
import { dataFiles } from "./backup.js"
import { BackupReader, checkOf } from "./backup-file.js"
import { loadTables } from "./backup-tables.js"
import { differingCounters } from "./checks.js"
import { Refusal } from "./kit.js"
import { databaseOf } from "./open.js"

/** Restores a backup; throws when a table has another number of rows, a reference leads nowhere, or a file has another content. */
export async function restore(config: Config, path: string): Promise<object> {
  const backup = await BackupReader.open(path)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => backup.close())
  await restoreKeys(backup, config)
  // As a server: none may run on the database of DATA_DIR, and a second restore waits.
  const embedded = config.databaseUrl ? null : await openEmbedded({ dataDir: config.dataDir, role: "server", log: () => {} })
  stack.defer(() => embedded?.stop())
  const database = await connect(config.databaseUrl ?? embedded!.url)
  stack.defer(() => database.close())
  await makeTablesOf(database, backup.manifest.migrations, databaseOf(config))
  await restoreData(backup, database, await storage(config))
  await migrate(database)
  const { version, createdAt, tables, media } = backup.manifest
  return {
    database: databaseOf(config),
    version,
    createdAt,
    tables: Object.keys(tables).length,
    rows: Object.values(tables).reduce((sum, table) => sum + table.rows, 0),
    media: { files: media.files, missing: media.missing.length },
    countersThatDiffer: (await differingCounters(database)).length,
  }
}

/** Writes the keys into DATA_DIR, unless the environment has them; refuses other keys than those of the backup, which could decrypt nothing. */
async function restoreKeys(backup: BackupReader, config: Config): Promise<void> {
  dataFolder(config.dataDir)
  for (const name of dataFiles) {
    const content = await backup.read(`data/${name}`)
    if (content) await writeOnce(join(config.dataDir, name), await text(content), name === "secrets.json")
  }
  const hasKeys = backup.namesIn("data").includes("secrets.json") || (config.jwtSecret && config.encryptionKey)
  if (!hasKeys) throw new Refusal("The backup has no keys: set JWT_SECRET and ENCRYPTION_KEY to those of the server that was backed up")
  const { encryptionKey } = await loadSecrets(config)
  if (checkOf(encryptionKey) !== backup.manifest.encryptionKeyCheck)
    throw new Refusal("ENCRYPTION_KEY is not that of the server that was backed up: credentials in the backup could not be decrypted")
}

async function writeOnce(path: string, content: string, mustBeSame: boolean): Promise<void> {
  try {
    await writeFile(path, content, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    if (mustBeSame && (await readFile(path, "utf8")) !== content)
      throw new Refusal(`${path} has other keys than the backup: restore into another DATA_DIR, or move the file away`)
  }
}

/** Loads the rows, and commits them when the files are stored: an interrupted restore leaves a database without companies, and can be repeated. */
async function restoreData(backup: BackupReader, database: Database, files: Storage): Promise<void> {
  const { tables, sequences } = backup.manifest
  const client = new pg.Client({ connectionString: database.url })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  try {
    await client.connect()
    const rowsOf = async (table: string) => {
      const rows = await backup.read(`tables/${table}`)
      if (!rows) throw new Refusal(`The backup has no rows of the table ${table}`)
      return rows
    }
    await loadTables(client, tables, sequences, rowsOf, () => restoreMedia(backup, files, client)).catch((error: pg.DatabaseError) => {
      // PostgreSQL's class of data that a column does not take.
      throw error.code?.startsWith("22") ? new Refusal(`The backup is damaged: ${error.message}`) : error
    })
  } finally {
    await client.end()
  }
}

/** Stores each file again, when its content is that of its row. */
async function restoreMedia(backup: BackupReader, files: Storage, client: pg.Client): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "restore-"))
  try {
    const keys = backup.namesIn("media")
    if (keys.length !== backup.manifest.media.files)
      throw new Refusal(`The backup has ${keys.length} files, and should have ${backup.manifest.media.files}`)
    for (const key of keys) {
      const path = join(folder, "file")
      const hash = createHash("sha256")
      const hashed = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          yield chunk
        }
      }
      await pipeline((await backup.read(`media/${key}`))!, hashed, createWriteStream(path))
      const { rows } = await client.query("select sha256 from media where storage_key = $1", [key])
      if (rows[0]?.sha256 !== hash.digest("hex")) throw new Refusal(`The file ${key} is not the one that was backed up`)
      await files.put(key, path)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
