import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import pg from "pg"
import { installBinaries } from "../../src/database/embedded/binaries.js"
import { binariesFolder, openHome, SHARED_FOLDER } from "../../src/database/embedded/home.js"
import { initialise } from "../../src/database/embedded/init.js"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.js"
import { leastPageCacheMb, pageCacheMb } from "../../src/database/embedded/page-cache.js"
import { findPostmaster, stopPostmaster } from "../../src/database/embedded/postmaster.js"
import { superuserUrl } from "../../src/database/embedded/roles.js"
import { findOrStart } from "../../src/database/embedded/start.js"
import { happens, until } from "../kit/wait.js"

const root = process.getuid?.() === 0
const NOBODY = 65_534
const module = pathToFileURL(join(process.cwd(), "dist/src/database/embedded/open.js")).href

// A separate process that opens the database, prints its address, and stops it at the end of its input; it ignores SIGINT.
const HOLDER = `
  import { openEmbedded } from ${JSON.stringify(module)}
  process.on("SIGINT", () => {})
  const [dataDir, role, idleSeconds] = process.argv.slice(1)
  try {
    const database = await openEmbedded({ dataDir, role, log() {}, ...(idleSeconds && { idleSeconds: Number(idleSeconds) }) })
    process.stdin.on("end", () => database.stop().then(() => process.exit(0))).resume()
    console.log(database.url)
  } catch (error) {
    console.log("refused: " + error.message)
    process.exit(1)
  }
`

const folders: string[] = []
const children: ChildProcess[] = []

const open = (dataDir: string, role: "server" | "command" = "server") => openEmbedded({ dataDir, role, log() {} })
const memory = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, "postgres.json"), "utf8"))
const dataOf = (dataDir: string): string => memory(dataDir).data ?? join(dataDir, "postgres")
const running = (dataDir: string) => existsSync(join(dataDir, "postgres.json")) && findPostmaster(dataOf(dataDir))

function folder(mode = 0o755): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "embedded-")))
  chmodSync(made, mode)
  folders.push(made)
  return made
}

interface HolderOptions {
  uid?: number
  gid?: number
  env?: NodeJS.ProcessEnv
}

function hold(dataDir: string, role: "server" | "command", options: HolderOptions = {}, idleSeconds: string[] = []) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", HOLDER, dataDir, role, ...idleSeconds], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
    ...options,
  })
  children.push(child)
  const line = once(child.stdout, "data").then(([printed]) => String(printed).trim())
  return { child, said: () => happens("the process has opened the database", line) }
}

const exited = (child: ChildProcess) => until("the process has ended", () => child.exitCode !== null || child.signalCode !== null)

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL")
  await exited(child)
}

async function ask(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

async function note(url: string, text: string): Promise<void> {
  await ask(url, "CREATE TABLE IF NOT EXISTS note (text text)")
  await ask(url, "INSERT INTO note VALUES ($1)", [text])
}

const notes = async (url: string) => (await ask(url, "SELECT text FROM note ORDER BY text")).map((row) => row["text"])

afterAll(async () => {
  for (const child of children) await kill(child)
  for (const made of folders) {
    for (const dataDir of [made, join(made, "data")]) {
      if (running(dataDir)) await stopPostmaster(dataOf(dataDir))
      if (existsSync(join(dataDir, "postgres.json")) && memory(dataDir).data) rmSync(dirname(dataOf(dataDir)), { recursive: true })
    }
    rmSync(made, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
})

describe("the first start", () => {
  const dataDir = folder()
  let database: EmbeddedDatabase
  let firstUrl: string

  it("creates a durable database on loopback", async () => {
    database = await open(dataDir)
    firstUrl = database.url
    const { hostname, port } = new URL(database.url)
    expect(hostname).toBe("127.0.0.1")
    expect(Number(port)).toBeLessThan(32_768)
    const [settings] = await ask(
      superuserUrl(memory(dataDir)),
      `SELECT current_setting('fsync') f, current_setting('synchronous_commit') s, current_setting('full_page_writes') p,
              current_setting('listen_addresses') l, current_setting('unix_socket_directories') u, current_setting('jit') j,
              pg_size_bytes(current_setting('shared_buffers')) / 1048576 as cache`,
    )
    expect(settings).toEqual({ f: "on", s: "on", p: "on", l: "127.0.0.1", u: "", j: "off", cache: String(pageCacheMb()) })
  })

  it("keeps pages in a quarter of the memory, between 128 MB and 4 GB", () => {
    const gigabyte = 1024 ** 3
    const machines = [0.25, 0.5, 1, 8, 15.5, 16, 64]
    expect(machines.map((gigabytes) => pageCacheMb(gigabytes * gigabyte))).toEqual([128, 128, 256, 2048, 3968, 4096, 4096])
    expect(pageCacheMb()).toBeLessThanOrEqual(Math.max(128, totalmem() / 4 / 1024 ** 2))
  })

  it("supports letters beyond ASCII, in patterns and in trigrams", async () => {
    await ask(database.url, "CREATE EXTENSION IF NOT EXISTS pg_trgm")
    const [row] = await ask(
      database.url,
      `SELECT lower('ПРИВЕТ Ä') low, 'Größe ПРИВЕТ' ILIKE '%привет' alike, cardinality(show_trgm('привет')) trigrams,
              current_setting('server_encoding') encoding`,
    )
    expect(row).toEqual({ low: "привет ä", alike: true, trigrams: 7, encoding: "UTF8" })
  })

  it("hides the password from other users and requires it", async () => {
    expect(statSync(join(dataDir, "postgres.json")).mode & 0o777).toBe(0o600)
    const wrong = new URL(database.url)
    wrong.password = "wrong"
    await expect(ask(wrong.href, "SELECT 1")).rejects.toThrow("password authentication failed")
  })

  it("is followed by a restart with the same data at the same address", async () => {
    await note(database.url, "kept")
    await Promise.all([database.stop(), database.stop()])
    expect(running(dataDir)).toBeUndefined()
    database = await open(dataDir)
    expect(database.url).toBe(firstUrl)
    expect(await notes(database.url)).toEqual(["kept"])
    await database.stop()
  })

  it("uses another port when the stored one is taken", async () => {
    const other = createServer().listen(Number(new URL(firstUrl).port), "127.0.0.1")
    await once(other, "listening")
    database = await open(dataDir)
    expect(new URL(database.url).port).not.toBe(new URL(firstUrl).port)
    expect(await notes(database.url)).toEqual(["kept"])
    await database.stop()
    other.close()
  })

  it("has a small cache of pages where the system refuses the memory of a larger one", async () => {
    const found = openHome(folder())
    const home = { ...found, binaries: await installBinaries(binariesFolder(found)) }
    await initialise(home)
    // In place of a system that refuses: a program that answers as PostgreSQL does there.
    const refusing = folder()
    mkdirSync(join(refusing, "bin"))
    const program = `#!/bin/sh
      case "$*" in *shared_buffers=${leastPageCacheMb}MB*) exec "${home.binaries}/bin/postgres" "$@" ;; esac
      echo "FATAL:  could not map anonymous shared memory: Cannot allocate memory" >&2
      exit 1`
    writeFileSync(join(refusing, "bin", "postgres"), program, { mode: 0o755 })
    const { port } = await findOrStart({ ...home, binaries: refusing })
    expect(await ask(superuserUrl(home.memory, port), "SHOW shared_buffers")).toEqual([{ shared_buffers: `${leastPageCacheMb}MB` }])
    await stopPostmaster(home.data)
  })

  it("fails with one line and the end of the log", async () => {
    const file = join(dataOf(dataDir), "PG_VERSION")
    writeFileSync(file, "9\n")
    await expect(open(dataDir)).rejects.toThrow(/^PostgreSQL did not start on .*FATAL: {2}database files are incompatible with server.*$/)
    writeFileSync(file, "18\n")
    await (await open(dataDir)).stop()
  })
})

describe("one server, many commands", () => {
  const dataDir = folder()

  it("refuses a second server and names the first one's process id", async () => {
    const { child, said } = hold(dataDir, "server")
    await said()
    await expect(open(dataDir)).rejects.toThrow(`A server already runs on ${dataDir} (process ${child.pid}): stop it first`)
    child.stdin!.end()
    await exited(child)
    expect(running(dataDir)).toBeUndefined()
  })

  it("lets a command use the server's database and leaves it running", async () => {
    const server = await open(dataDir)
    const command = await open(dataDir, "command")
    expect(command.url).toBe(server.url)
    await command.stop()
    await ask(server.url, "SELECT 1")
    await server.stop()
    expect(running(dataDir)).toBeUndefined()
  })

  it("starts the database for a command alone and stops it with the last command", async () => {
    const [one, two] = await Promise.all([open(dataDir, "command"), open(dataDir, "command")])
    await one.stop()
    await ask(two.url, "SELECT 1")
    await two.stop()
    expect(running(dataDir)).toBeUndefined()
  })

  it("leaves a database that a command started to the server that started meanwhile", async () => {
    const command = await open(dataDir, "command")
    const server = await open(dataDir)
    await command.stop()
    await ask(server.url, "SELECT 1")
    await server.stop()
    expect(running(dataDir)).toBeUndefined()
  })

  it("waits briefly for a command when the server stops", async () => {
    const server = await open(dataDir)
    const command = await open(dataDir, "command")
    const stopped = server.stop()
    // Some connections long, the database is still there.
    for (let count = 0; count < 10; count += 1) await ask(command.url, "SELECT 1")
    await command.stop()
    await stopped
    expect(running(dataDir)).toBeUndefined()
  })

  it("leaves the database to a command that takes longer", async () => {
    const server = await open(dataDir)
    const command = await open(dataDir, "command")
    await server.stop()
    await ask(command.url, "SELECT 1")
    await command.stop()
    expect(running(dataDir)).toBeUndefined()
  })

  it("starts once when all start at the same time", async () => {
    const fresh = folder()
    const all = [hold(fresh, "command"), hold(fresh, "server"), hold(fresh, "command")]
    const urls = await Promise.all(all.map(({ said }) => said()))
    expect(urls[0]).toMatch(/^postgres:/)
    expect(new Set(urls).size).toBe(1)
    for (const { child } of all) child.stdin!.end()
    await Promise.all(all.map(({ child }) => exited(child)))
    expect(running(fresh)).toBeUndefined()
  })
})

describe("a command of the administration", () => {
  const start = (cwd: string, env: Record<string, string> = {}) => {
    const options = { cwd, encoding: "utf8", env: { PATH: process.env["PATH"] ?? "", ...env } } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(process.cwd(), "dist/server/admin.js"), "company:list"], options)
    return { status, stdout, stderr }
  }

  it("works on the database that the server in the same folder has, as .env says, and names it", async () => {
    const home = folder()
    writeFileSync(join(home, ".env"), "DATA_DIR=./shop\n")
    const server = await open(join(home, "shop"))
    expect(start(home)).toEqual({ status: 0, stdout: "[]\n", stderr: `Database: embedded PostgreSQL in ${join(home, "shop")}\n` })
    await server.stop()
  })

  it("creates no database, and writes nothing where there is none", () => {
    const home = folder()
    const [nowhere, foreign] = [join(home, "data"), folder()]
    writeFileSync(join(foreign, "notes.txt"), "not a database")
    for (const [dataDir, env] of [
      [nowhere, {}],
      [foreign, { DATA_DIR: foreign }],
    ] as const)
      expect(start(home, env)).toEqual({
        status: 1,
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`^There is no database in ${dataDir}: set DATA_DIR or DATABASE_URL [^\\n]+\\n$`)),
      })
    expect([readdirSync(home), readdirSync(foreign)]).toEqual([[], ["notes.txt"]])
  })

  it("does not finish a database whose creation was interrupted", async () => {
    const dataDir = folder()
    writeFileSync(join(dataDir, "postgres.json"), JSON.stringify({ port: 0, password: "p", serverPassword: "s", keeper: "command" }))
    await expect(openEmbedded({ dataDir, role: "command", mustExist: true, log() {} })).rejects.toThrow(/^There is no database in/)
    expect(existsSync(join(dataDir, "postgres"))).toBe(false)
  })
})

describe("after a kill -9", () => {
  const dataDir = folder()

  // The state at the kill: during initdb, with data, with a running database.
  it.each(["postgres.init-", "postgres", "postgres.log"])(
    "of a first start that has just made %s, the next start succeeds",
    async (sign) => {
      const cut = folder()
      const { child } = hold(cut, "server")
      const made = () => readdirSync(cut).some((name) => (sign.endsWith("-") ? name.startsWith(sign) : name === sign))
      await until(`the first start has made ${sign}`, made)
      await kill(child)
      const database = await open(cut)
      await note(database.url, "here")
      await database.stop()
      // initdb of the killed process may have continued for a while; a later start removes its files.
      await (await open(cut)).stop()
      expect(readdirSync(cut).filter((name) => name.includes(".init-"))).toEqual([])
    },
  )

  it("of the server, the next one finds its database and every row", async () => {
    const { child, said } = hold(dataDir, "server")
    await note(await said(), "1")
    await kill(child)
    const orphan = running(dataDir)
    expect(orphan).toBeTruthy()
    const command = await open(dataDir, "command")
    await command.stop()
    expect(running(dataDir)).toEqual(orphan)
    const database = await open(dataDir)
    expect(await notes(database.url)).toEqual(["1"])
    await database.stop()
    expect(running(dataDir)).toBeUndefined()
  })

  it("of the server, the database stops by itself, and the next start finds every row", async () => {
    const cut = folder()
    const { child, said } = hold(cut, "server", {}, ["1"])
    await note(await said(), "kept")
    const log = () => readFileSync(join(cut, "postgres.log"), "utf8")
    const { pid } = running(cut) as { pid: number }
    await kill(child)
    await until("the database has stopped", () => !running(cut), log)
    expect(log()).toContain("nobody has used this database for 1 seconds: it stops")
    const database = await open(cut)
    expect(running(cut)).not.toMatchObject({ pid })
    expect(await notes(database.url)).toEqual(["kept"])
    await database.stop()
  })

  it("of PostgreSQL's session that stops it, and of all others, the server has it again", async () => {
    const cut = folder()
    const { said } = hold(cut, "server", {}, ["1000"])
    await said()
    const admin = superuserUrl(memory(cut), memory(cut).port)
    const watching = "select pid from pg_stat_activity where application_name = 'platform-idle-stop'"
    const before = await ask(admin, watching)
    await ask(
      admin,
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
    )
    await until("the session runs again", async () => (await ask(admin, watching)).length === 1)
    expect(await ask(admin, watching)).not.toEqual(before)
  })

  it("of the server, the next one begins a new minute for the database that it finds", async () => {
    const { child, said } = hold(dataDir, "server")
    await said()
    const watching = "select pid from pg_stat_activity where application_name = 'platform-idle-stop' and state = 'active'"
    const admin = superuserUrl(memory(dataDir), memory(dataDir).port)
    const before = await ask(admin, watching)
    await kill(child)
    const database = await open(dataDir)
    const after = await ask(admin, watching)
    expect([before, after]).toEqual([[{ pid: expect.any(Number) }], [{ pid: expect.any(Number) }]])
    expect(after).not.toEqual(before)
    await database.stop()
  })

  it("of the server and of PostgreSQL, the next one waits for the recovery", async () => {
    const { child, said } = hold(dataDir, "server")
    const url = await said()
    await note(url, "2")
    const busy = ask(url, "SELECT pg_sleep(60)").catch(() => {})
    await ask(url, "CREATE TABLE bulk AS SELECT i, repeat('x', 200) AS text FROM generate_series(1, 200000) i")
    const postmaster = findPostmaster(dataOf(dataDir))!
    process.kill(postmaster.pid, "SIGKILL")
    await kill(child)
    const database = await open(dataDir)
    expect(await notes(database.url)).toEqual(["1", "2"])
    expect(await ask(database.url, "SELECT count(*)::int AS n FROM bulk")).toEqual([{ n: 200_000 }])
    await database.stop()
    await busy
  })

  it("is not confused by another process with the old process id", async () => {
    const data = dataOf(dataDir)
    const { uid, gid } = statSync(data)
    const unrelated = spawn("sleep", ["60"], root ? { uid, gid, stdio: "ignore" } : { stdio: "ignore" })
    children.push(unrelated)
    const database = await open(dataDir)
    const pidFile = join(data, "postmaster.pid")
    const left = readFileSync(pidFile, "utf8")
    await database.stop()
    writeFileSync(pidFile, left.replace(/^\d+/, `${unrelated.pid}`), { mode: 0o600 })
    if (root) chownSync(pidFile, uid, gid)
    const again = await open(dataDir)
    expect(await notes(again.url)).toEqual(["1", "2"])
    await again.stop()
    expect(unrelated.exitCode).toBeNull()
  })

  it("an empty postmaster.pid, as after a power cut, is removed", async () => {
    const pidFile = join(dataOf(dataDir), "postmaster.pid")
    writeFileSync(pidFile, "")
    if (root) chownSync(pidFile, statSync(dirname(pidFile)).uid, statSync(dirname(pidFile)).gid)
    utimesSync(pidFile, 1, 1)
    await (await open(dataDir)).stop()
  })

  it("PostgreSQL survives a Ctrl-C that was sent to the server's process group", async () => {
    const { child, said } = hold(dataDir, "server")
    const url = await said()
    process.kill(-child.pid!, "SIGINT")
    // PostgreSQL would end within the first of them.
    for (let count = 0; count < 10; count += 1) await ask(url, "SELECT 1")
    child.stdin!.end()
    await exited(child)
    expect(running(dataDir)).toBeUndefined()
  })
})

describe("users", () => {
  const asRoot = root ? it : it.skip
  asRoot(`${root ? "" : "(needs root) "}as root below a folder of root's own, the data is where PostgreSQL can reach it`, async () => {
    const dataDir = join(folder(0o700), "data")
    const database = await open(dataDir)
    await note(database.url, "outside")
    await database.stop()
    expect(dataOf(dataDir).startsWith(`${SHARED_FOLDER}/`)).toBe(true)
    expect(existsSync(join(dataDir, "postgres"))).toBe(false)
    const again = await open(dataDir, "command")
    expect(await notes(again.url)).toEqual(["outside"])
    await again.stop()
  })

  const enterable = (path: string): boolean => (statSync(path).mode & 0o001) !== 0 && (path === "/" || enterable(dirname(path)))
  const asOther = root && enterable(process.cwd()) ? it : it.skip
  const why = root ? "(needs a checkout that others can read) " : "(needs root; here every test runs as an ordinary user) "
  asOther(`${asOther === it ? "" : why}as an ordinary user without a home, everything is in DATA_DIR`, async () => {
    const dataDir = join(folder(), "data")
    chownSync(dirname(dataDir), NOBODY, NOBODY)
    const user = { uid: NOBODY, gid: NOBODY, env: { PATH: process.env["PATH"] } }
    const first = hold(dataDir, "server", user)
    await note(await first.said(), "mine")
    await kill(first.child)
    const second = hold(dataDir, "server", user)
    expect(await notes(await second.said())).toEqual(["mine"])
    expect(statSync(join(dataDir, "postgres")).uid).toBe(NOBODY)
    // Root may run a command without changing owners.
    const command = await open(dataDir, "command")
    await command.stop()
    expect(statSync(join(dataDir, "postgres.json")).uid).toBe(NOBODY)
    second.child.stdin!.end()
    await exited(second.child)
    expect(running(dataDir)).toBeUndefined()
  })
})
