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
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
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
  await makeTablesOf(database, backup.manifest.migrations)
  await restoreTables(backup, database)
  const files = await restoreMedia(backup, await storage(config), database)
  await migrate(database)
  const { version, createdAt, tables, media } = backup.manifest
  return {
    database: databaseOf(config),
    version,
    createdAt,
    tables: Object.keys(tables).length,
    rows: Object.values(tables).reduce((sum, table) => sum + table.rows, 0),
    media: { files, missing: media.missing.length },
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
  const hasKeys = (await backup.read("data/secrets.json")) || (config.jwtSecret && config.encryptionKey)
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

async function restoreTables(backup: BackupReader, database: Database): Promise<void> {
  const { tables, sequences } = backup.manifest
  const client = new pg.Client({ connectionString: database.url })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  try {
    await client.connect()
    await loadTables(client, tables, sequences, async (table) => {
      const rows = await backup.read(`tables/${table}`)
      if (!rows) throw new Refusal(`The backup has no rows of the table ${table}`)
      return rows
    })
  } finally {
    await client.end()
  }
}

const fileOfKey: Statement<{ sha256: string }> = { name: "file-of-key", text: "select sha256 from media where storage_key = $1" }

/** Stores each file again, when its content is that of its row; returns their number. */
async function restoreMedia(backup: BackupReader, files: Storage, database: Database): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "restore-"))
  try {
    const keys = backup.namesIn("media")
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
      const [row] = await unscoped(database, fileOfKey, [key])
      if (row?.sha256 !== hash.digest("hex")) throw new Refusal(`The file ${key} is not the one that was backed up`)
      await files.put(key, path)
    }
    return keys.length
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
