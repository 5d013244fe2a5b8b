import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { operatorError } from "../../errors/operator-error.js"
import { type Home, runAs } from "./home.js"
import { giveToOwner, until } from "./locks.js"

const ROTATE_BYTES = 1_000_000
const FAST_STOP_MS = 15_000
const HARD_STOP_MS = 10_000
const EMPTY_FILE_MS = 3_000
const NO_PROCESS = 2_147_483_647

// No committed data may be lost when a process is killed; the caller logs errors of statements, so the database's log stays small.
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  // Reports over outcomes keep some ten megabytes of sums.
  work_mem: "16MB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  jit: "off",
  // Ends long statements of disconnected clients, which would outlive a killed database process and prevent the next start.
  client_connection_check_interval: "1s",
  log_min_messages: "log",
  log_checkpoints: "off",
  logging_collector: "off",
}

/** The running database process of a data folder. */
export interface Postmaster {
  pid: number
  /** Unknown right after the start. */
  port: number | undefined
}

/** A database process that this process has started. */
export interface Launch {
  /** Why it ended; undefined while it runs. */
  ended(): string | undefined
}

/** Finds the live database process of a data folder, also of one that another process started. */
export function findPostmaster(data: string): Postmaster | undefined {
  const lines = pidLines(data)
  const pid = Number(lines[0])
  return isPostmaster(pid, data) ? { pid, port: Number(lines[3]) || undefined } : undefined
}

/** Starts the database process detached, so that a Ctrl-C of this process does not reach it; its cache of pages has so many megabytes. */
export function launch(home: Home, port: number, cacheMb: number): Launch {
  disarmStalePid(home.data)
  rotate(home.logFile)
  const log = openSync(home.logFile, "a", 0o600)
  giveToOwner(home.logFile)
  const settings = Object.entries({ ...SETTINGS, shared_buffers: `${cacheMb}MB`, port }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ])
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

/** The text of a log from a position on; empty when the file is gone, as after its folder was removed. */
function saidIn(logFile: string, begin: number): string {
  try {
    return readFileSync(logFile).subarray(begin).toString("utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""
    throw error
  }
}

/** Stops the database process of a data folder, cleanly if possible, and waits for its end. */
export async function stopPostmaster(data: string): Promise<void> {
  const running = findPostmaster(data)
  if (!running) return
  const hasEnded = () => !isPostmaster(running.pid, data)
  process.kill(running.pid, "SIGINT")
  if (await until(hasEnded, FAST_STOP_MS)) return
  // Committed data is in the write-ahead log, from which the next start recovers.
  if (!hasEnded()) process.kill(running.pid, "SIGQUIT")
  if (!(await until(hasEnded, HARD_STOP_MS))) throw operatorError(`PostgreSQL (process ${running.pid}) on ${data} does not stop.`)
}

function watch(child: ChildProcess, readLog: () => string): Launch {
  let end: string | undefined
  child.once("error", (error) => {
    end = error.message
  })
  child.once("exit", (code, signal) => {
    end ??= `${readLog()}\nit ended with ${signal ?? `exit code ${code}`}.`
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

// A pid alone proves nothing: after a reboot, or in a container, another process may have it. The check is for a postgres on this folder.
function isPostmaster(pid: number, data: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    if (process.platform !== "linux") return commandLine(pid).includes(`-D ${data} `)
    const [program = "", ...values] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    // The working directory is correct even after the folder was moved, but root in a container may not be able to read it.
    return basename(program) === "postgres" && (values.includes(data) || readlinkSync(`/proc/${pid}/cwd`) === data)
  } catch {
    return false
  }
}

function commandLine(pid: number): string {
  return execFileSync("ps", ["-ww", "-o", "command=", "-p", `${pid}`], { encoding: "utf8" })
}

// PostgreSQL refuses to start while any process has the pid in its file. Only the pid of an unrelated live program is removed: a database
// that is just starting may be taking the file over, but not from a live pid. The rest of the file must stay: its shared memory key
// prevents a start beside orphaned sessions of a killed database process.
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
