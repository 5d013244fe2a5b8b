import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { sentence } from "../../sentence.js"
import { type Home, runAs } from "./home.js"
import { giveToOwner, until } from "./locks.js"

const ROTATE_BYTES = 1_000_000
const FAST_STOP_MS = 15_000
const HARD_STOP_MS = 10_000
const EMPTY_FILE_MS = 3_000
const NO_PROCESS = 2_147_483_647

// Nothing that was committed may be lost, whoever is killed; errors of single statements are the caller's to log, so that the log stays small.
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "256MB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  jit: "off",
  // Ends the long statement of a client that is gone; otherwise it would outlive a killed database process and bar the next one.
  client_connection_check_interval: "1s",
  log_min_messages: "log",
  log_checkpoints: "off",
  logging_collector: "off",
}

/** The database process that runs on a data folder. */
export interface Postmaster {
  pid: number
  /** Missing for the first instant of its life. */
  port: number | undefined
}

/** A database process that we have just begun. */
export interface Launch {
  /** Why it is no more, or undefined while it lives. */
  ended(): string | undefined
}

/** Finds the live database process of a data folder, whoever started it. */
export function findPostmaster(data: string): Postmaster | undefined {
  const lines = pidLines(data)
  const pid = Number(lines[0])
  return isPostmaster(pid, data) ? { pid, port: Number(lines[3]) || undefined } : undefined
}

/** Starts the database process; it is on its own from here, so that a Ctrl-C meant for us does not reach it. */
export function launch(home: Home, port: number): Launch {
  disarmStalePid(home.data)
  rotate(home.logFile)
  const log = openSync(home.logFile, "a", 0o600)
  giveToOwner(home.logFile)
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const begin = statSync(home.logFile).size
  const child = spawn(join(home.binaries, "bin", "postgres"), ["-D", home.data, ...settings], {
    ...runAs(home.account),
    detached: true,
    stdio: ["ignore", log, log],
  })
  closeSync(log)
  child.unref()
  return watch(child, () => saidIn(home.logFile, begin))
}

/** What a log says from a place on; nothing when it has gone, as with a folder that is removed after a stop. */
function saidIn(logFile: string, begin: number): string {
  try {
    return readFileSync(logFile).subarray(begin).toString("utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""
    throw error
  }
}

/** Stops the database process of a data folder, in good order if it can be had, and waits for its end. */
export async function stopPostmaster(data: string): Promise<void> {
  const running = findPostmaster(data)
  if (!running) return
  const gone = () => !isPostmaster(running.pid, data)
  process.kill(running.pid, "SIGINT")
  if (await until(gone, FAST_STOP_MS)) return
  // What was committed is in the write-ahead log: the next start recovers from it.
  if (!gone()) process.kill(running.pid, "SIGQUIT")
  if (!(await until(gone, HARD_STOP_MS))) throw sentence(`PostgreSQL (process ${running.pid}) on ${data} does not stop.`)
}

function watch(child: ChildProcess, said: () => string): Launch {
  let end: string | undefined
  child.once("error", (error) => {
    end = error.message
  })
  child.once("exit", (code, signal) => {
    end ??= `${said()}\nit ended with ${signal ?? `exit code ${code}`}.`
  })
  return { ended: () => end }
}

function pidLines(data: string): string[] {
  try {
    return readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}

// A number proves nothing: after a reboot, or in a container, it is soon another process's. Ours is a postgres that runs on this very folder.
function isPostmaster(pid: number, data: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    if (process.platform !== "linux") return commandLine(pid).includes(`-D ${data} `)
    const [program = "", ...values] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    // The working directory is right even after a move of the folder, but root in a container may not see it.
    return basename(program) === "postgres" && (values.includes(data) || readlinkSync(`/proc/${pid}/cwd`) === data)
  } catch {
    return false
  }
}

function commandLine(pid: number): string {
  return execFileSync("ps", ["-ww", "-o", "command=", "-p", `${pid}`], { encoding: "utf8" })
}

// PostgreSQL refuses to start while any process has the pid in its file. Only a pid that some other program has now is taken out: a database
// that a killed process began an instant ago may be taking the file over, but not from a live pid. The rest of the file must stay: its shared
// memory key keeps us from starting beside orphaned sessions of a database process that was killed.
function disarmStalePid(data: string): void {
  const [first, ...rest] = pidLines(data)
  const pid = Number(first)
  const file = join(data, "postmaster.pid")
  if (pid > 0 && isAlive(pid) && !isPostmaster(pid, data)) writeFileSync(file, [NO_PROCESS, ...rest].join("\n"))
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  if (first === "" && Date.now() - written > EMPTY_FILE_MS) rmSync(file, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

function rotate(logFile: string): void {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (size > ROTATE_BYTES) renameSync(logFile, `${logFile}.1`)
}
