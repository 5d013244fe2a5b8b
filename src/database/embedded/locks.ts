import { chownSync, closeSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { operatorError } from "../../errors/operator-error.js"

/** A lock on a file that ends with its process. */
export interface Lock {
  release(): void
}

const STEP_MS = 20
const SQLITE_BUSY = 5

// An unreferenced handle is garbage collected, and its lock released.
const held = new Set<DatabaseSync>()

/** Takes an exclusive or shared lock on a file; fails after the given milliseconds. */
export async function takeLock(file: string, mode: "exclusive" | "shared", patienceMs: number): Promise<Lock | undefined> {
  makeOnce(file)
  let lock: Lock | undefined
  await until(() => {
    lock = tryLock(file, mode)
    return lock !== undefined
  }, patienceMs)
  return lock
}

/** Polls until the check holds; returns whether it did in time. */
export async function until(check: () => boolean, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (!check()) {
    if (performance.now() >= deadline) return false
    await sleep(STEP_MS)
  }
  return true
}

// Node has no file locks. SQLite uses the kernel's, which end with their process, so no lock is ever stale.
function tryLock(file: string, mode: "exclusive" | "shared"): Lock | undefined {
  let handle: DatabaseSync | undefined
  try {
    handle = new DatabaseSync(file)
    // Nothing is written, so no journal is needed; a deferred transaction holds its lock from its first read.
    handle.exec("PRAGMA journal_mode = MEMORY")
    handle.exec(mode === "exclusive" ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT count(*) FROM sqlite_schema")
  } catch (error) {
    handle?.close()
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return undefined
    throw operatorError(`Cannot lock ${file}: ${(error as Error).message}.`)
  }
  held.add(handle)
  return { release: () => held.delete(handle) && handle.close() }
}

// Never opens an existing file: closing any handle of a file drops all locks of this process on it.
function makeOnce(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return
    throw error
  }
  giveToOwner(file)
}

/** As root, leaves a file to the owner of its folder, who may run without root later. */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  chownSync(file, uid, gid)
}
