import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { binariesName } from "./binaries.js"
import { dataOf, OWNER_FILE, recall, SHARED_FOLDER } from "./home.js"
import { findPostmaster } from "./postmaster.js"

/** A file or folder that no embedded database needs any more. */
export interface Leftover {
  path: string
  /** Its size. */
  bytes: number
  why: string
}

/**
 * Finds what earlier versions and deleted databases have left in a DATA_DIR, and in the folder where root puts what PostgreSQL's user must be
 * able to read: copies of PostgreSQL, and data whose DATA_DIR is gone.
 */
export function leftovers(dataDir: string): Leftover[] {
  const inDataDir = existsSync(dataDir) ? inFolder(realpathSync(dataDir)) : []
  return [...inDataDir, ...(existsSync(SHARED_FOLDER) ? [...inFolder(SHARED_FOLDER), ...ownerless()] : [])]
}

/** Deletes a leftover. */
export const prune = ({ path }: Leftover): void => rmSync(path, { recursive: true, force: true })

function inFolder(folder: string): Leftover[] {
  const used = programsThatRun()
  return readdirSync(folder).flatMap((name) => {
    const isOther = /^postgres-\d.*-.*-/.test(name) && !name.startsWith(binariesName())
    const isUsed = used.some((program) => program.startsWith(`${join(folder, name)}/`))
    return leftover(join(folder, name), isOther && !isUsed ? "PostgreSQL of another version" : null)
  })
}

// Data without that file is of an earlier version of this program, which may still use it: it stays.
function ownerless(): Leftover[] {
  return readdirSync(SHARED_FOLDER).flatMap((name) => {
    const folder = join(SHARED_FOLDER, name)
    const file = join(folder, OWNER_FILE)
    if (!existsSync(file)) return []
    const owner = readFileSync(file, "utf8").trim()
    const data = join(folder, "postgres")
    const isOwned = existsSync(owner) && recall(owner) && dataOf(owner) === data
    return leftover(folder, isOwned || findPostmaster(data) ? null : `the data of ${owner}, which does not exist any more`)
  })
}

const leftover = (path: string, why: string | null): Leftover[] => (why ? [{ path, bytes: sizeOf(path), why }] : [])

function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

/** The files of the programs that run; only Linux tells. */
function programsThatRun(): string[] {
  if (!existsSync("/proc")) return []
  return readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readlinkSync(`/proc/${pid}/exe`)] : []
    } catch {
      // It has ended, or belongs to another user.
      return []
    }
  })
}
