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
import { operatorError } from "../../errors/operator-error.js"
import { giveToOwner } from "./locks.js"

/** Where root puts the files that PostgreSQL's user must be able to read. */
export const SHARED_FOLDER = "/var/lib/assistant-messaging-platform"

/** The user that PostgreSQL runs as, when it is not the user of this process. */
export interface Account {
  uid: number
  gid: number
}

/** The content of DATA_DIR/postgres.json. */
export interface Memory {
  port: number
  /** Of the superuser that initdb creates. */
  password: string
  /** Of the role that the server works as. */
  serverPassword: string
  /** Set only when the data lies outside DATA_DIR. */
  data?: string
  /** Who stops the database: the server, or the last command that ends. */
  keeper: "server" | "command"
  /** The process id of the server that started last. */
  server?: number
}

/** One embedded database: its folders, its user and its state file. */
export interface Home {
  dataDir: string
  data: string
  binaries: string
  logFile: string
  account: Account | undefined
  memory: Memory
}

/** Finds or creates the folders of DATA_DIR's database; the caller installs the binaries. */
export function openHome(dataDir: string): Omit<Home, "binaries"> {
  const memory = recall(dataDir) ?? found(dataDir)
  if (!memory.serverPassword) {
    // Earlier versions worked as the superuser.
    memory.serverPassword = makePassword()
    remember(dataDir, memory)
  }
  const data = dataOf(dataDir, memory)
  noteOwner(dataDir, memory)
  return { dataDir, data, memory, logFile: join(dataDir, "postgres.log"), account: accountFor(data) }
}

/** The folder for the copy of the binaries. */
export function binariesFolder(home: { dataDir: string; account: Account | undefined }): string {
  return home.account ? sharedFolder() : home.dataDir
}

/** Options to run PostgreSQL's programs: as their user, in a folder that every user can enter, without PG* variables. */
export function runAs(account: Account | undefined) {
  return { cwd: "/", env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" }, ...account }
}

/** Reads DATA_DIR/postgres.json; null when it does not exist. */
export function recall(dataDir: string): Memory | undefined {
  const file = join(dataDir, "postgres.json")
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Memory
  } catch (error) {
    throw operatorError(`Cannot read ${file}, which holds the passwords of the embedded database: ${(error as Error).message}.`)
  }
}

/** Whether the database of a DATA_DIR was created; postgres.json alone is written before. */
export function databaseExists(dataDir: string): boolean {
  const memory = recall(dataDir)
  return memory !== undefined && existsSync(join(dataOf(dataDir, memory), "PG_VERSION"))
}

/** The folder of the data of a DATA_DIR's database. */
export const dataOf = (dataDir: string, memory = recall(dataDir)): string => memory?.data ?? join(dataDir, "postgres")

/** The file in a folder below SHARED_FOLDER that names the DATA_DIR whose data is there. */
export const OWNER_FILE = "data-dir"

// At each start, because a DATA_DIR may have been moved.
function noteOwner(dataDir: string, { data }: Memory): void {
  if (data) writeAtOnce(join(dirname(data), OWNER_FILE), `${dataDir}\n`)
}

/** Writes DATA_DIR/postgres.json atomically. */
export function remember(dataDir: string, memory: Memory): void {
  writeAtOnce(join(dataDir, "postgres.json"), `${JSON.stringify(memory, null, 2)}\n`)
}

function writeAtOnce(file: string, content: string): void {
  const handle = openSync(`${file}.new`, "w", 0o600)
  writeFileSync(handle, content)
  fsyncSync(handle)
  closeSync(handle)
  giveToOwner(`${file}.new`)
  renameSync(`${file}.new`, file)
}

function makePassword(): string {
  return randomBytes(24).toString("base64url")
}

// Written before initdb runs, so that the password of an existing database is always known.
function found(dataDir: string): Memory {
  const inside = join(dataDir, "postgres")
  if (existsSync(join(inside, "PG_VERSION"))) {
    throw operatorError(
      `${inside} holds a database but ${inside}.json with its password is missing: restore that file, or move the folder away.`,
    )
  }
  const memory: Memory = { port: 0, password: makePassword(), serverPassword: makePassword(), keeper: "command" }
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

// Existing data keeps its user: a package may have added a postgres user since, or an ordinary user may have created the data.
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
  throw operatorError("PostgreSQL refuses to run as root and there is no user postgres or nobody: start the server as an ordinary user.")
}
