import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { sentence } from "../../sentence.js"
import { installBinaries } from "./binaries.js"
import { binariesFolder, type Home, openHome, recall, remember } from "./home.js"
import { initialise } from "./init.js"
import { type Lock, takeLock } from "./locks.js"
import { stopPostmaster } from "./postmaster.js"
import { address, bringUp } from "./start.js"

/** The running PostgreSQL server of a DATA_DIR. */
export interface EmbeddedDatabase {
  /** postgres://… on 127.0.0.1 */
  url: string
  /** Stops the server if no other process needs it. */
  stop(): Promise<void>
}

/** The DATA_DIR and the role of the opening process. */
export interface EmbeddedOptions {
  dataDir: string
  role: "server" | "command"
  log(line: string): void
}

interface Stay extends EmbeddedOptions {
  using: Lock
  serving: Lock | undefined
}

const TURN_MS = 40_000
const SERVER_LOCK_MS = 1_000
const COMMANDS_LEAVE_MS = 5_000

/**
 * Opens the database of a DATA_DIR, starting it if it does not run. A second server on the same DATA_DIR is refused.
 * A command uses the running database, or starts it until the command ends.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  mkdirSync(options.dataDir, { recursive: true })
  const dataDir = realpathSync(options.dataDir)
  return inTurn(dataDir, async () => {
    const stay = await enter({ ...options, dataDir })
    try {
      const url = await open(stay)
      let left: Promise<void> | undefined
      return { url, stop: () => (left ??= leave(stay)) }
    } catch (error) {
      stay.using.release()
      stay.serving?.release()
      throw error
    }
  })
}

// One process at a time starts or stops, so that the lock's holder never sees a half-started database.
async function inTurn<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const turn = await takeLock(join(dataDir, "postgres.turn.lock"), "exclusive", TURN_MS)
  if (!turn) throw sentence(`Another process has been starting or stopping the database in ${dataDir} for ${TURN_MS / 1000} seconds.`)
  try {
    return await work()
  } finally {
    turn.release()
  }
}

async function enter(options: EmbeddedOptions): Promise<Stay> {
  const { dataDir, role } = options
  const serving = role === "server" ? await takeLock(join(dataDir, "postgres.server.lock"), "exclusive", SERVER_LOCK_MS) : undefined
  if (role === "server" && !serving) {
    const pid = recall(dataDir)?.server ?? "unknown"
    throw sentence(`A server already runs on ${dataDir} (process ${pid}): stop it first, or give this one another DATA_DIR.`)
  }
  const using = await takeLock(usersFile(dataDir), "shared", SERVER_LOCK_MS)
  if (using) return { ...options, using, serving }
  serving?.release()
  throw sentence(`The database in ${dataDir} is being stopped by another process: try again.`)
}

async function open(stay: Stay): Promise<string> {
  const begin = performance.now()
  const founded = openHome(stay.dataDir)
  const home: Home = { ...founded, binaries: await installBinaries(binariesFolder(founded)) }
  const first = await initialise(home)
  const { port, started } = await bringUp(home)
  if (stay.role === "server") Object.assign(home.memory, { keeper: "server", server: process.pid })
  else if (started) home.memory.keeper = "command"
  remember(stay.dataDir, home.memory)
  const how = first ? "created and started" : started ? "started" : "found running"
  stay.log(`database ${how} on 127.0.0.1:${port} in ${Math.round(performance.now() - begin)} ms, data in ${home.data}`)
  return address(home, port)
}

async function leave(stay: Stay): Promise<void> {
  // First: a stopping server waits for this.
  stay.using.release()
  try {
    await inTurn(stay.dataDir, () => (stay.role === "server" ? leaveAsServer(stay) : leaveAsCommand(stay)))
  } finally {
    stay.serving?.release()
  }
}

async function leaveAsServer(stay: Stay): Promise<void> {
  if (await stopIfUnused(stay, COMMANDS_LEAVE_MS)) return
  const memory = recall(stay.dataDir)
  if (memory) remember(stay.dataDir, { ...memory, keeper: "command" })
  stay.log("a command is still using the database and will stop it when it is done")
}

// A database that a server has used is stopped by a server only, even if that one was killed: other programs may be connected to it.
async function leaveAsCommand(stay: Stay): Promise<void> {
  if (recall(stay.dataDir)?.keeper === "command") await stopIfUnused(stay, 0)
}

async function stopIfUnused(stay: Stay, patienceMs: number): Promise<boolean> {
  const alone = await takeLock(usersFile(stay.dataDir), "exclusive", patienceMs)
  if (!alone) return false
  try {
    const memory = recall(stay.dataDir)
    await stopPostmaster(memory?.data ?? join(stay.dataDir, "postgres"))
    return true
  } finally {
    alone.release()
  }
}

function usersFile(dataDir: string): string {
  return join(dataDir, "postgres.use.lock")
}
