import { randomBytes, randomUUID } from "node:crypto"
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { sentence } from "../../sentence.js"
import { giveToOwner } from "./locks.js"

/** Where root puts what the user that runs PostgreSQL must be able to reach. */
export const SHARED_FOLDER = "/var/lib/assistant-messaging-platform"

/** The user that PostgreSQL runs as, where that is not ourselves. */
export interface Account {
  uid: number
  gid: number
}

/** What DATA_DIR/postgres.json remembers. */
export interface Memory {
  port: number
  password: string
  /** Set only where the data had to be placed outside DATA_DIR. */
  data?: string
  /** Whose duty it is to stop the database: that of the server, or that of the last command to leave. */
  keeper: "server" | "command"
  /** The process id of the server that was the last to start. */
  server?: number
}

/** One embedded database: its folders, its user and its memory. */
export interface Home {
  dataDir: string
  data: string
  binaries: string
  logFile: string
  account: Account | undefined
  memory: Memory
}

/** Finds or founds the home of DATA_DIR's database; the binaries are the caller's to install. */
export function openHome(dataDir: string): Omit<Home, "binaries"> {
  const memory = recall(dataDir) ?? found(dataDir)
  const data = memory.data ?? join(dataDir, "postgres")
  return { dataDir, data, memory, logFile: join(dataDir, "postgres.log"), account: accountFor(data) }
}

/** The folder that the copy of the binaries goes to. */
export function binariesFolder(home: { dataDir: string; account: Account | undefined }): string {
  return home.account ? sharedFolder() : home.dataDir
}

/** How PostgreSQL's programs are run: as their user, from a folder that everyone can enter, with none of our PG* variables. */
export function runAs(account: Account | undefined) {
  return { cwd: "/", env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" }, ...account }
}

/** What DATA_DIR/postgres.json says, if it is there. */
export function recall(dataDir: string): Memory | undefined {
  const file = join(dataDir, "postgres.json")
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Memory
  } catch (error) {
    throw sentence(`Cannot read ${file}, which holds the password of the embedded database: ${(error as Error).message}.`)
  }
}

/** Writes DATA_DIR/postgres.json, whole or not at all. */
export function remember(dataDir: string, memory: Memory): void {
  const file = join(dataDir, "postgres.json")
  const handle = openSync(`${file}.new`, "w", 0o600)
  writeFileSync(handle, `${JSON.stringify(memory, null, 2)}\n`)
  fsyncSync(handle)
  closeSync(handle)
  giveToOwner(`${file}.new`)
  renameSync(`${file}.new`, file)
}

// Written before initdb runs with it, so that there is never a database whose password nobody knows.
function found(dataDir: string): Memory {
  const inside = join(dataDir, "postgres")
  if (existsSync(join(inside, "PG_VERSION"))) {
    throw sentence(
      `${inside} holds a database but ${inside}.json with its password is missing: restore that file, or move the folder away.`,
    )
  }
  const memory: Memory = { port: 0, password: randomBytes(24).toString("base64url"), keeper: "command" }
  if (process.getuid?.() === 0 && !reachable(dataDir)) {
    const folder = join(sharedFolder(), randomUUID())
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    memory.data = join(folder, "postgres")
  }
  remember(dataDir, memory)
  return memory
}

function sharedFolder(): string {
  if (!existsSync(SHARED_FOLDER)) {
    mkdirSync(SHARED_FOLDER, { recursive: true })
    chmodSync(SHARED_FOLDER, 0o755)
  }
  return SHARED_FOLDER
}

function reachable(folder: string): boolean {
  const open = (statSync(folder).mode & 0o001) !== 0
  return open && (dirname(folder) === folder || reachable(dirname(folder)))
}

// Data that exists keeps its user: a postgres user may have come with a package since, or an ordinary user may have made the data.
function accountFor(data: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const made = statSync(data, { throwIfNoEntry: false })
  if (made && made.uid !== 0) return { uid: made.uid, gid: made.gid }
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
  for (const name of ["postgres", "_postgres", "nobody"]) {
    const user = users.find((fields) => fields[0] === name)
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw sentence("PostgreSQL refuses to run as root and there is no user postgres or nobody: start the server as an ordinary user.")
}
