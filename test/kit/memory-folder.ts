import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs"

/** Linux keeps what is below it in memory. */
const memory = "/dev/shm"

/** What all tests and campaigns have there at a time, several times over. */
const neededBytes = 4 * 1024 ** 3

/**
 * Lets the temporary files of this process, and of those that it starts, be in memory where Linux has room for that and lets programs run from
 * there: tests create and remove thousands of database files, which costs the file system of a disk a third of their CPU time. The files are
 * removed when the process ends. TMPDIR decides, where it is set.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env["TMPDIR"] || !isUsable()) return
  const folder = mkdtempSync(`${memory}/platform-`)
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(folder, 0o755)
  process.env["TMPDIR"] = folder
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
}

function isUsable(): boolean {
  if (process.platform !== "linux") return false
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n")
  const options = mounts.map((line) => line.split(" ")).find(([, path]) => path === memory)?.[3]
  if (!options || options.split(",").includes("noexec")) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= neededBytes
}
