import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ConfigError, readConfig } from "../../src/config/config.js"
import { dataFolder, mediaFolder } from "../../src/config/data-folder.js"
import { connect } from "../../src/database/connect.js"
import { closeDatabases, emptyDatabase } from "../kit/databases.js"
import { serverEnvironment, serverProcess } from "../kit/server-process.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refused-"))
})

afterAll(async () => {
  await closeDatabases()
  await rm(folder, { recursive: true })
})

/** Starts a built program as an operator does, until it ends. */
const start = (env: Record<string, string>, flags: string[] = [], program = "dist/server/main.js") =>
  new Promise<{ code: number; stderr: string }>((resolve) =>
    // A server that starts after all is ended.
    execFile(
      process.execPath,
      [...flags, program],
      { env: { ...serverEnvironment(w), LOG_LEVEL: "error", ...env }, timeout: 60_000 },
      (error, _out, stderr) => resolve({ code: error ? Number(error.code) : 0, stderr }),
    ),
  )

/** A file of the bundle and those that it imports when it is loaded. */
async function loadedBy(file: string): Promise<string[]> {
  const imports = (await readFile(file, "utf8")).matchAll(/\b(?:import|from)\s*"\.\/([^"]+)"/g)
  return [file, ...(await Promise.all([...imports].map(([, name]) => loadedBy(join(dirname(file), name!))))).flat()]
}

/** The error of a start, which is printed without a stack. */
async function refusal(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    expect((error as Error).stack === undefined || error instanceof ConfigError).toBe(true)
    return (error as Error).message
  }
  throw new Error("This start was not refused")
}

describe("a start is refused in one sentence, without a stack,", () => {
  it("by a Node.js that is too old, before it loads what needs a newer one", async () => {
    const old = 'Object.defineProperties(process, { version: { value: "v20.20.2" }, versions: { value: { node: "20.20.2" } } })'
    const flags = ["--import", `data:text/javascript,${encodeURIComponent(old)}`]
    const stderr = expect.stringMatching(/^Node\.js 24 or later is needed, and this is v20\.20\.2: use [^\n]+\n$/)
    const refused = { code: 1, stderr }
    expect(await Promise.all([start({}, flags), start({}, flags, "dist/server/admin.js")])).toEqual([refused, refused])
    for (const program of ["dist/server/main.js", "dist/server/admin.js"]) {
      const files = await loadedBy(program)
      expect(files.length).toBeGreaterThan(1)
      const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
      expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(10_000)
    }
  })

  it("by a database that does not exist, which is not created", async () => {
    const missing = Object.assign(new URL(w.databaseUrl), { pathname: "/platfrom" })
    expect(await refusal(() => connect(missing.href))).toBe(
      `There is no database platfrom at ${missing.host}: create it, or correct DATABASE_URL.`,
    )
    expect(await w.sql("select from pg_database where datname = 'platfrom'")).toEqual([])
  })

  it("by a DATABASE_URL that cannot be read, without its password", async () => {
    const cases: [string, RegExp][] = [
      ["postgres://someone:pri#vate@127.0.0.1:1/shop", /^DATABASE_URL cannot be read: Invalid URL; .+ percent-encoded$/],
      ["postgres://someone:private@127.0.0.1:1/shop?sslrootcert=/missing.pem", /^DATABASE_URL cannot be read: .+missing\.pem/],
    ]
    for (const [url, words] of cases) {
      const message = await refusal(() => connect(url))
      expect(message).toMatch(words)
      expect(message).not.toContain("pri")
    }
  })

  it("by the database of another program, to which it writes nothing", async () => {
    const [plain, migrated] = await Promise.all([emptyDatabase(), emptyDatabase()])
    await plain.sql("create table orders (id int)")
    await migrated.sql("create table mikro_orm_migrations (name text)")
    await migrated.sql("insert into mikro_orm_migrations values ('Migration20200101000000_shop')")
    const sentence = (url: string, tables: string) => {
      const { pathname, host } = new URL(url)
      const hint = `belongs to another program, whose tables are ${tables}: give this server a database of its own.`
      return `The database ${pathname.slice(1)} at ${host} ${hint}`
    }
    const [ended, message] = await Promise.all([start({ DATABASE_URL: plain.url }), refusal(() => migrated.start())])
    expect(ended).toEqual({ code: 1, stderr: `${sentence(plain.url, "orders")}\n` })
    expect(message).toBe(sentence(migrated.url, "mikro_orm_migrations"))
    const tables = "select tablename from pg_tables where schemaname = 'public'"
    expect(await plain.sql(tables)).toEqual([{ tablename: "orders" }])
    expect(await migrated.sql(tables)).toEqual([{ tablename: "mikro_orm_migrations" }])
  })

  it("by a database in which it may not create tables", async () => {
    const database = await emptyDatabase()
    await database.sql(`alter role current_user in database ${new URL(database.url).pathname.slice(1)} set search_path = absent`)
    const hint = /^The tables cannot be created or changed: .+\. The role in DATABASE_URL must own the database\.$/
    expect(await refusal(() => database.start())).toMatch(hint)
  })

  it("by a DATA_DIR that is no folder, cannot be created, or is meant for a shell", async () => {
    const file = join(folder, "media")
    await writeFile(file, "")
    const why = "cannot be used: it, or a part of its path, is a file"
    expect(await refusal(() => dataFolder(join(file, "below")))).toBe(`DATA_DIR: the folder ${join(file, "below")} ${why}`)
    expect(await refusal(() => mediaFolder(folder))).toBe(`DATA_DIR: the folder ${file} ${why}`)
    expect(await refusal(() => dataFolder("/proc/platform/data"))).toMatch(/^DATA_DIR: the folder \/proc\/platform\/data cannot be used: /)
    expect(await refusal(() => readConfig({ DATA_DIR: "~/data" }))).toMatch(/^DATA_DIR: must be a path without ~/)
    const database = await emptyDatabase()
    expect(await refusal(() => database.start({ DATA_DIR: folder }))).toContain(why)
  })

  it("by a port in use", async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve))
    const { port } = taken.address() as AddressInfo
    const stderr = `Cannot listen on 127.0.0.1:${port}: the port is in use; stop the program that uses it, or set PORT\n`
    expect(await start({ PORT: String(port) })).toEqual({ code: 1, stderr })
    await new Promise((resolve) => taken.close(resolve))
  })
})

it("a start without Redis and other things of production goes on, and logs each consequence in one line", async () => {
  const typingError = { OPENAI_API_KEYS: "private" }
  const redis = { REDIS_URL: "redis://someone:private@127.0.0.1:1" }
  const server = await serverProcess(w, { ...redis, ...typingError, NODE_ENV: "production", LOG_LEVEL: "info" })
  const consequences = ["events arrive within a second", "each instance counts its requests itself"]
  const sentences = consequences.map((words) => `Redis at 127.0.0.1:1 is not reachable: connect ECONNREFUSED 127.0.0.1:1; ${words}`)
  await until("the server has logged each sentence", () => sentences.every((sentence) => server.log().includes(sentence)))
  await server.stop()
  // On a slow machine an attempt may also time out, which is another reason and another line.
  const lines = server
    .log()
    .split("\n")
    .filter((line) => line.includes("Redis"))
  const shown = lines.map((line) => JSON.parse(line))
  for (const sentence of sentences) expect(shown.filter(({ msg }) => msg === sentence)).toMatchObject([{ level: "warn" }])
  for (const line of shown) expect(line).not.toHaveProperty("err")
  const warnings = server.log().match(/"level":"warn".+"msg":"(?:without|the environment variable) \w+/g)
  expect(warnings?.map((line) => line.split(" ").at(-1))).toEqual(["OPENAI_API_KEYS", "S3_BUCKET", "PUBLIC_URL"])
  expect(server.log()).not.toContain("private")
})
