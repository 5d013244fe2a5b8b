import type { Config } from "../config/config.js"
import { stopEmbedded } from "../database/embedded/open.js"
import { leftovers, remove } from "../database/embedded/prune.js"
import { type OfflineCommand, Refusal } from "./kit.js"

function mustBeEmbedded({ databaseUrl }: Config): void {
  if (databaseUrl) throw new Refusal("DATABASE_URL is set: this command is about the embedded database of DATA_DIR")
}

/** Commands about the embedded PostgreSQL itself. */
export const embeddedCommands: Record<string, OfflineCommand> = {
  "database:stop": {
    does: "Stops the embedded database that a killed server has left running, and ends other sessions of it; refused while a server or another command uses it. Without it, the database stops within a minute of its last session (not on Windows).",
    options: {},
    async runOffline(config) {
      mustBeEmbedded(config)
      const stopped = await stopEmbedded(config.dataDir)
      return { dataDir: config.dataDir, stopped: stopped !== null, process: stopped?.pid ?? null }
    },
  },
  "database:prune": {
    does: "Lists what earlier versions and databases have left of the embedded PostgreSQL, with sizes in bytes; with --delete it deletes programs of other versions, never data.",
    options: { delete: { flag: true, description: "delete the programs that are listed" } },
    async runOffline(config, options) {
      mustBeEmbedded(config)
      const found = leftovers(config.dataDir)
      if (options["delete"]) for (const each of found) remove(each)
      return found.map(({ path, bytes, why, isRemovable }) => ({ path, bytes, why, deleted: isRemovable && Boolean(options["delete"]) }))
    },
  },
}
