import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pino from "pino"
import { readConfig } from "../../src/config/config.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { clock } from "../../src/entities/kit/clock.js"
import { startServer } from "../../src/server.js"
import type { Recording } from "./player.js"
import { record, recordedWith, stopClock } from "./record.js"

/** Starts a server with a demo of its own in this process, and records a request of each route. */
export async function newRecording(): Promise<Recording> {
  const dataDir = mkdtempSync(join(tmpdir(), "examples-"))
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(dataDir, 0o755)
  const database = await openEmbedded({ dataDir, role: "server", log() {} })
  stopClock()
  try {
    const config = readConfig({ DATA_DIR: dataDir, PORT: "0", ...recordedWith })
    const server = await startServer(config, database.url, pino({ level: "silent" }))
    return await record(server).finally(() => server.stop())
  } finally {
    clock.reset()
    await database.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
