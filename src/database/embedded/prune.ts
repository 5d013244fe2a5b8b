import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { binariesName } from "./binaries.js"
import { dataOf, OWNER_FILE, recall, SHARED_FOLDER } from "./home.js"

/** What an embedded database may have left. */
export interface Leftover {
  path: string
  /** Its size. */
  bytes: number
  why: string
  /** Whether `remove()` deletes it: programs, but never data. */
  isRemovable: boolean
}

/** Names of copies of PostgreSQL: that of the package with its version. */
const copyName = /^postgres-\d+\.\d+\.\d+(-[a-z]+\.\d+)?-(linux|darwin|win32)-(x64|arm64)$/

/**
 * Finds what earlier versions have left in a DATA_DIR, and as root in the folder where root puts what PostgreSQL's user must be able to read:
 * copies of PostgreSQL that no process runs from, and data whose DATA_DIR cannot be found. That data may be in use from another
 * container, or its DATA_DIR on a disk that is not mounted, so it is listed only.
 */
export function leftovers(dataDir: string, shared = process.getuid?.() === 0 ? SHARED_FOLDER : null): Leftover[] {
  const folders = [dataDir, ...(shared ? [shared] : [])].filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder))
  return [...folders.flatMap(otherCopies), ...(shared && existsSync(shared) ? unknownData(dataDir, shared) : [])]
}

/** Deletes a copy of PostgreSQL; under another name first, because one that exists counts as complete. */
export function remove({ path, isRemovable }: Leftover): void {
  if (!isRemovable) return
  renameSync(path, `${path}.removed`)
  rmSync(`${path}.removed`, { recursive: true, force: true })
}

function otherCopies(folder: string): Leftover[] {
  const running = runningPrograms()
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const isOther = copyName.test(name) && name !== binariesName() && existsSync(join(path, "bin", "postgres"))
    if (!isOther || running === "unknown" || running.includes(`${path}/`)) return []
    return { path, bytes: sizeOf(path), why: "PostgreSQL of another version", isRemovable: true }
  })
}

// Data without that file is of an earlier version of this program, which may still use it.
function unknownData(dataDir: string, shared: string): Leftover[] {
  return readdirSync(shared).flatMap((name) => {
    const file = join(shared, name, OWNER_FILE)
    const path = join(shared, name)
    if (!existsSync(file) || dataOf(dataDir) === join(path, "postgres")) return []
    const owner = readFileSync(file, "utf8").trim()
    if (existsSync(owner) && recall(owner) && dataOf(owner) === join(path, "postgres")) return []
    const why = `data whose DATA_DIR ${owner} cannot be found from here: delete it yourself when nobody needs it`
    return { path, bytes: sizeOf(path), why, isRemovable: false }
  })
}

function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

/** The paths of the programs that run, in one text; "unknown" where this process may not see that of a PostgreSQL. */
function runningPrograms(): string {
  if (process.platform === "win32") return "unknown"
  if (process.platform !== "linux") return execFileSync("ps", ["-axww", "-o", "command="], { encoding: "utf8" })
  const programs: string[] = []
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      programs.push(readlinkSync(`/proc/${pid}/exe`))
    } catch (error) {
      // It has ended, or is a part of the kernel. Otherwise it is another user's.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" && nameOf(pid) === "postgres") return "unknown"
    }
  }
  return programs.join("\n")
}

/** The name of a process; null when it has ended. */
function nameOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim()
  } catch {
    return null
  }
}
