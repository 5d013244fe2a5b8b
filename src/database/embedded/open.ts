import { realpathSync } from "node:fs"
import { join } from "node:path"
import { dataFolder } from "../../config/data-folder.js"
import { operatorError } from "../../errors/operator-error.js"
import { installBinaries } from "./binaries.js"
import { HeldSession } from "./held-session.js"
import { binariesFolder, databaseExists, dataOf, type Home, openHome, recall, remember } from "./home.js"
import { stopWhenIdle } from "./idle-stop.js"
import { initialise } from "./init.js"
import { type Lock, takeLock } from "./locks.js"
import { findPostmaster, stopPostmaster } from "./postmaster.js"
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
  /** How long the database goes on running without sessions, in seconds; a minute by default. */
  idleSeconds?: number
  log(line: string): void
}

interface OpenSession extends EmbeddedOptions {
  userLock: Lock
  serverLock: Lock | undefined
  held?: HeldSession
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
      await session.held?.close()
      session.userLock.release()
      session.serverLock?.release()
      throw error
    }
  })
}

/**
 * Stops the database of a DATA_DIR that no process of the platform uses, as after a server was killed; returns the process that was stopped, or
 * null when none ran. Throws an error for the operator while a server or a command uses it.
 */
export async function stopEmbedded(folder: string): Promise<{ pid: number } | null> {
  if (!databaseExists(folder)) throw missing(folder)
  const dataDir = realpathSync(folder)
  return inTurn(dataDir, async () => {
    const serverLock = await takeServerLock(dataDir)
    try {
      const running = findPostmaster(dataOf(dataDir))
      if (!running) return null
      if (await stopIfUnused(dataDir, COMMANDS_LEAVE_MS)) return { pid: running.pid }
      throw operatorError(`A command uses the database in ${dataDir}: it stops the database when it has ended.`)
    } finally {
      serverLock.release()
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
  const serverLock = role === "server" ? await takeServerLock(dataDir) : undefined
  const userLock = await takeLock(usersFile(dataDir), "shared", SERVER_LOCK_MS)
  if (userLock) return { ...options, userLock, serverLock }
  serverLock?.release()
  throw operatorError(`The database in ${dataDir} is being stopped by another process: try again.`)
}

async function takeServerLock(dataDir: string): Promise<Lock> {
  const lock = await takeLock(join(dataDir, "postgres.server.lock"), "exclusive", SERVER_LOCK_MS)
  if (lock) return lock
  const pid = recall(dataDir)?.server ?? "unknown"
  throw operatorError(`A server already runs on ${dataDir} (process ${pid}): stop it first, or give this one another DATA_DIR.`)
}

async function open(session: OpenSession): Promise<string> {
  const begin = performance.now()
  const found = openHome(session.dataDir)
  const home: Home = { ...found, binaries: await installBinaries(binariesFolder(found)) }
  const first = await initialise(home)
  const { port, started } = await findPrepared(home, session)
  if (session.role === "server") Object.assign(home.memory, { keeper: "server", server: process.pid })
  else if (started) home.memory.keeper = "command"
  remember(session.dataDir, home.memory)
  const how = first ? "created and started" : started ? "started" : "found running"
  session.log(`database ${how} on 127.0.0.1:${port} in ${Math.round(performance.now() - begin)} ms, data in ${home.data}`)
  return serverUrl(home.memory, port)
}

// A database that nobody has used for a minute may be stopping: then it is started.
async function findPrepared(home: Home, session: OpenSession, attempts = 3): Promise<{ port: number; started: boolean }> {
  try {
    const found = await findOrStart(home)
    const begin = () => stopWhenIdle(home, found.port, session.idleSeconds)
    await begin()
    await prepareServerRole(home, found.port)
    session.held = await HeldSession.open(serverUrl(home.memory, found.port), begin)
    return found
  } catch (error) {
    if (attempts === 1 || !isStopping(error as Error)) throw error
    return findPrepared(home, session, attempts - 1)
  }
}

function isStopping(error: Error): boolean {
  const { code = "", message } = (error.cause ?? error) as Error & { code?: string }
  return /^(57P0[13]|ECONNREFUSED|ECONNRESET)$/.test(code) || /^Connection terminated|not queryable/.test(message)
}

async function closeSession(session: OpenSession): Promise<void> {
  await session.held?.close()
  // First: a stopping server waits for this.
  session.userLock.release()
  try {
    await inTurn(session.dataDir, () => (session.role === "server" ? closeAsServer(session) : closeAsCommand(session)))
  } finally {
    session.serverLock?.release()
  }
}

async function closeAsServer(session: OpenSession): Promise<void> {
  if (await stopIfUnused(session.dataDir, COMMANDS_LEAVE_MS)) return
  const memory = recall(session.dataDir)
  if (memory) remember(session.dataDir, { ...memory, keeper: "command" })
  session.log("a command is still using the database and will stop it when it is done")
}

// A database that a server has used is stopped by a server only, even if that one was killed: other programs may be connected to it.
async function closeAsCommand(session: OpenSession): Promise<void> {
  if (recall(session.dataDir)?.keeper === "command") await stopIfUnused(session.dataDir, 0)
}

async function stopIfUnused(dataDir: string, patienceMs: number): Promise<boolean> {
  const alone = await takeLock(usersFile(dataDir), "exclusive", patienceMs)
  if (!alone) return false
  try {
    await stopPostmaster(dataOf(dataDir))
    return true
  } finally {
    alone.release()
  }
}

function usersFile(dataDir: string): string {
  return join(dataDir, "postgres.use.lock")
}
