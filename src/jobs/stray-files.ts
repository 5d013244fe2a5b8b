import { opendir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Services } from "../context/services.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const knownFiles = { name: "known-files", text: "select storage_key from media where id = any($1::uuid[])" }

/** Removes what a crash left in the storage: files without a row, and unfinished uploads. */
export const strayFiles: Sweep = {
  name: "stray-files",
  everySeconds: jobLimits.strayFileSweepSeconds,
  async run(services) {
    const before = new Date(clock.now().getTime() - jobLimits.strayFileSeconds * 1000)
    for await (const files of services.storage.list()) {
      if (services.stopping.aborted) return
      // A file is stored before its row is written, so a recent file may still get its row.
      const old = files.filter((file) => file.storedAt < before).map((file) => file.key)
      for (let at = 0; at < old.length; at += jobLimits.mediaBatch) await removeUnknown(services, old.slice(at, at + jobLimits.mediaBatch))
    }
    await removeUnfinished(services.arrivals, before)
  },
}

async function removeUnknown({ database, storage }: Pick<Services, "database" | "storage">, keys: string[]) {
  const rows = await unscoped(database, knownFiles, [keys.map((key) => key.split("/")[1])])
  const known = new Set(rows.map((row) => row["storage_key"]))
  await storage.remove(keys.filter((key) => !known.has(key)))
}

async function removeUnfinished(folder: string, before: Date) {
  try {
    for await (const { name } of await opendir(folder)) {
      const path = join(folder, name)
      if ((await stat(path)).mtime < before) await rm(path, { force: true })
    }
  } catch (error) {
    // The folder does not exist yet, or an upload has just ended.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}
