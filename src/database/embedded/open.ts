import { realpathSync } from "node:fs"
import { join } from "node:path"
import { dataFolder } from "../../config/data-folder.js"
import { operatorError } from "../../errors/operator-error.js"
import { installBinaries } from "./binaries.js"
import { binariesFolder, databaseExists, type Home, openHome, recall, remember } from "./home.js"
import { initialise } from "./init.js"
import { type Lock, takeLock } from "./locks.js"
import { stopPostmaster } from "./postmaster.js"
import { prepareServerRole, serverUrl } from "./roles.js"
import { findOrStart } from "./start.js"

/** The running PostgreSQL server of a DATA_DIR. */
export interface EmbeddedDatabase {
  /** postgres://… on 127.0.0.1, as the role that owns the platform's database and is no superuser */
  url: string
  /** Stops the server if no other process needs it. */
  stop(): Promise<void>
}

/** The DATA_DIR and the role of the opening process. */
export interface EmbeddedOptions {
  dataDir: string
  role: "server" | "command"
  /** Refuses a DATA_DIR without a database, and leaves it as it is. */
  mustExist?: boolean
  log(line: string): void
}

interface OpenSession extends EmbeddedOptions {
  userLock: Lock
  serverLock: Lock | undefined
}

const TURN_MS = 40_000
const SERVER_LOCK_MS = 1_000
const COMMANDS_LEAVE_MS = 5_000

/**
 * Opens the database of a DATA_DIR, starting it if it does not run. A second server on the same DATA_DIR is refused.
 * A command uses the running database, or starts it until the command ends.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  // Before anything is written there. A server that is creating the database is waited for below.
  if (options.mustExist && !recall(options.dataDir)) throw missing(options.dataDir)
  dataFolder(options.dataDir)
  const dataDir = realpathSync(options.dataDir)
  return inTurn(dataDir, async () => {
    if (options.mustExist && !databaseExists(dataDir)) throw missing(dataDir)
    const session = await openSession({ ...options, dataDir })
    try {
      const url = await open(session)
      let left: Promise<void> | undefined
      return { url, stop: () => (left ??= closeSession(session)) }
    } catch (error) {
      session.userLock.release()
      session.serverLock?.release()
      throw error
    }
  })
}

function missing(dataDir: string): Error {
  return operatorError(
    `There is no database in ${dataDir}: set DATA_DIR or DATABASE_URL to that of the server; the first start of a server creates a database.`,
  )
}

// One process at a time starts or stops, so that the lock's holder never sees a half-started database.
async function inTurn<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const turn = await takeLock(join(dataDir, "postgres.turn.lock"), "exclusive", TURN_MS)
  if (!turn) throw operatorError(`Another process has been starting or stopping the database in ${dataDir} for ${TURN_MS / 1000} seconds.`)
  try {
    return await work()
  } finally {
    turn.release()
  }
}

async function openSession(options: EmbeddedOptions): Promise<OpenSession> {
  const { dataDir, role } = options
  const serverLock = role === "server" ? await takeLock(join(dataDir, "postgres.server.lock"), "exclusive", SERVER_LOCK_MS) : undefined
  if (role === "server" && !serverLock) {
    const pid = recall(dataDir)?.server ?? "unknown"
    throw operatorError(`A server already runs on ${dataDir} (process ${pid}): stop it first, or give this one another DATA_DIR.`)
  }
  const userLock = await takeLock(usersFile(dataDir), "shared", SERVER_LOCK_MS)
  if (userLock) return { ...options, userLock, serverLock }
  serverLock?.release()
  throw operatorError(`The database in ${dataDir} is being stopped by another process: try again.`)
}

async function open(session: OpenSession): Promise<string> {
  const begin = performance.now()
  const found = openHome(session.dataDir)
  const home: Home = { ...found, binaries: await installBinaries(binariesFolder(found)) }
  const first = await initialise(home)
  const { port, started } = await findOrStart(home)
  await prepareServerRole(home, port)
  if (session.role === "server") Object.assign(home.memory, { keeper: "server", server: process.pid })
  else if (started) home.memory.keeper = "command"
  remember(session.dataDir, home.memory)
  const how = first ? "created and started" : started ? "started" : "found running"
  session.log(`database ${how} on 127.0.0.1:${port} in ${Math.round(performance.now() - begin)} ms, data in ${home.data}`)
  return serverUrl(home.memory, port)
}

async function closeSession(session: OpenSession): Promise<void> {
  // First: a stopping server waits for this.
  session.userLock.release()
  try {
    await inTurn(session.dataDir, () => (session.role === "server" ? closeAsServer(session) : closeAsCommand(session)))
  } finally {
    session.serverLock?.release()
  }
}

async function closeAsServer(session: OpenSession): Promise<void> {
  if (await stopIfUnused(session, COMMANDS_LEAVE_MS)) return
  const memory = recall(session.dataDir)
  if (memory) remember(session.dataDir, { ...memory, keeper: "command" })
  session.log("a command is still using the database and will stop it when it is done")
}

// A database that a server has used is stopped by a server only, even if that one was killed: other programs may be connected to it.
async function closeAsCommand(session: OpenSession): Promise<void> {
  if (recall(session.dataDir)?.keeper === "command") await stopIfUnused(session, 0)
}

async function stopIfUnused(session: OpenSession, patienceMs: number): Promise<boolean> {
  const alone = await takeLock(usersFile(session.dataDir), "exclusive", patienceMs)
  if (!alone) return false
  try {
    const memory = recall(session.dataDir)
    await stopPostmaster(memory?.data ?? join(session.dataDir, "postgres"))
    return true
  } finally {
    alone.release()
  }
}

function usersFile(dataDir: string): string {
  return join(dataDir, "postgres.use.lock")
}
