import { chownSync, closeSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { sentence } from "../../sentence.js"

/** A lock on a file that goes with its process, however that process ends. */
export interface Lock {
  release(): void
}

const STEP_MS = 20
const SQLITE_BUSY = 5

// A handle that nobody refers to is collected, and its lock with it.
const held = new Set<DatabaseSync>()

/** Takes a lock on a file for oneself or with others, or gives up after that many milliseconds. */
export async function takeLock(file: string, mode: "exclusive" | "shared", patienceMs: number): Promise<Lock | undefined> {
  makeOnce(file)
  let lock: Lock | undefined
  await until(() => {
    lock = tryLock(file, mode)
    return lock !== undefined
  }, patienceMs)
  return lock
}

/** Waits until the check holds and says whether it came to hold in time. */
export async function until(check: () => boolean, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (!check()) {
    if (performance.now() >= deadline) return false
    await sleep(STEP_MS)
  }
  return true
}

// Node has no file locks of its own. SQLite's are the kernel's: they need no pid to be judged stale and are gone the moment their process is.
function tryLock(file: string, mode: "exclusive" | "shared"): Lock | undefined {
  let handle: DatabaseSync | undefined
  try {
    handle = new DatabaseSync(file)
    // Nothing is ever written, so nothing need be left on the disk to undo it; a deferred transaction holds its lock from its first read on.
    handle.exec("PRAGMA journal_mode = MEMORY")
    handle.exec(mode === "exclusive" ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT count(*) FROM sqlite_schema")
  } catch (error) {
    handle?.close()
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return undefined
    throw sentence(`Cannot lock ${file}: ${(error as Error).message}.`)
  }
  held.add(handle)
  return { release: () => held.delete(handle) && handle.close() }
}

// Never opens a file that is there: closing any handle of a file drops all locks that this process has on it.
function makeOnce(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return
    throw error
  }
  giveToOwner(file)
}

/** As root, leaves a file to the owner of its folder, so that he can go on without root. */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  chownSync(file, uid, gid)
}
