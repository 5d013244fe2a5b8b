import { resolve } from "node:path"
import type { Command, OfflineCommand } from "./kit.js"

const file = (description: string) => ({ file: { required: true, positional: true, description } })

/** Commands that back a whole server up and restore it. What they run is loaded on demand, since it would slow all other commands. */
export const backupCommands: Record<string, Command | OfflineCommand> = {
  "database:backup": {
    does: "Writes the database as it is at one moment, the uploaded files and the keys to one file, also while servers run.",
    options: {
      ...file("the file to write; it must not exist"),
      "allow-missing": { flag: true, description: "makes the backup although the storage has none of the uploaded files" },
    },
    async run(desk, options) {
      const [{ backUp }, { storage }] = await Promise.all([import("./backup.js"), import("../ports/index.js")])
      return backUp(desk, await storage(desk.config), resolve(options["file"]!), options["allow-missing"] !== undefined)
    },
  },
  "database:restore": {
    does: "Restores a backup into a database without companies, DATABASE_URL or a new one in DATA_DIR, brings it to this version, and checks it. No server may run on it.",
    options: file("the file that database:backup wrote"),
    async runOffline(config, options) {
      const { restore } = await import("./restore.js")
      return restore(config, resolve(options["file"]!))
    },
  },
}
