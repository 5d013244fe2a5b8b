import { spawn } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { connect as connectTo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "../../src/database/connect.js"
import { openHome } from "../../src/database/embedded/home.js"
import { initialise } from "../../src/database/embedded/init.js"
import { launch } from "../../src/database/embedded/postmaster.js"
import { migrate } from "../../src/database/migrate.js"
import { DocumentProcesses } from "../../src/ports/extractor/processes.js"
import { s3Storage } from "../../src/ports/storage/s3.js"
import { closeDatabases, emptyDatabase } from "../kit/databases.js"
import { processesOf } from "../kit/extractor-processes.js"
import { failingPlaces, places } from "../kit/failing-places.js"
import { fakeS3 } from "../kit/fake-s3.js"
import { sourcesBelow } from "../kit/house-rules.js"
import { serverEnvironment, serverProcess } from "../kit/server-process.js"
import { openTransaction } from "../kit/transaction.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

describe("the places that can fail without a caller", () => {
  const found = sourcesBelow("src")
    .filter(({ path }) => path.endsWith(".ts"))
    .flatMap(failingPlaces)

  it("are all listed, with what happens when they fail", () => {
    expect(found.toSorted()).toEqual(Object.keys(places).toSorted())
  })

  it("name tests that exist", () => {
    for (const [happens, file, title] of Object.values(places))
      if (file) expect({ happens, isTested: readFileSync(file, "utf8").includes(title!) }).toEqual({ happens, isTested: true })
  })

  it.each([
    ['import pg from "pg"\nconst pool = new pg.Pool(options)', "new pg.Pool"],
    ['import { once, EventEmitter } from "node:events"\nconst own = new EventEmitter<Events>()', "new EventEmitter"],
    ['import { createServer as make } from "node:net"\nmake(); make()', "make × 2"],
    ['import { PassThrough } from "node:stream"\nclass Own extends PassThrough implements Form {}', "extends PassThrough"],
    ['const { Redis } = await import("ioredis")\nnew Redis(url)', "new Redis"],
    [
      "const [{ A }, { MongoClient }] = await Promise.all([import('./a.js'), import(\"mongodb\")])\nnew MongoClient(url)".replaceAll(
        "'",
        '"',
      ),
      "new MongoClient",
    ],
    ["await file.createReadStream()", ".createReadStream"],
  ])("are found: %s", (text, place) => {
    expect(failingPlaces({ path: "src/a.ts", text })).toEqual([`src/a.ts: ${place}`])
  })
})

const w = world({ LOG_LEVEL: "info" })
const linesOf = (message: string) => w.logged.filter(({ msg }) => msg === message)
const isReady = async () => (await fetch(`${w.url}/health/ready`)).status === 200

describe("a server", () => {
  it("a connection that cannot be accepted is logged, once for many", async () => {
    let http: Server | undefined
    const onRequest = (message: unknown) => {
      http = (message as { server: Server }).server
    }
    subscribe("http.server.request.start", onRequest)
    await isReady()
    unsubscribe("http.server.request.start", onRequest)
    for (let time = 0; time < 3; time += 1) http!.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }))
    expect(linesOf("a connection could not be accepted")).toHaveLength(1)
    expect(await isReady()).toBe(true)
  })

  it("a wake-up that cannot be read is logged", async () => {
    const other = await serverProcess(w)
    try {
      for (const payload of ["error x", "progress {", ""]) await w.sql("select pg_notify('platform_wake_up', $1)", [payload])
      const message = "a wake-up could not be read"
      await until("both servers have logged the wake-up", () => linesOf(message).length === 2 && other.log().split(message).length === 3)
      expect(other.ended()).toBeNull()
      expect((await fetch(`${other.url}/health/ready`)).status).toBe(200)
    } finally {
      await other.stop()
    }
  })

  it("a response whose rows cannot be read to the end is cut, and logged", async () => {
    const { id: chatId } = await w.acme.chat()
    const { id } = await w.acme.message({ chatId })
    const copies = "jsonb_build_object('id', gen_random_uuid(), 'sequence', sequence + number, 'text', repeat('x', 50000))"
    await w.sql(
      `insert into message select (jsonb_populate_record(message, ${copies})).* from message, generate_series(1, 600) number where id = $1`,
      [id],
    )
    const { port, hostname } = new URL(w.url)
    const socket = connectTo(Number(port), hostname)
    let received = ""
    socket.on("data", (bytes) => {
      received += bytes
    })
    socket.write(`GET /api/messages?chatId=${chatId} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${w.acme.token}\r\n\r\n`)
    await happens("the response begins", once(socket, "data"))
    // The server waits for the reader, with pages still to be read.
    socket.pause()
    await w.sql("alter table message rename to message_elsewhere")
    socket.resume()
    await happens("the connection is closed", once(socket, "close")).finally(() => w.sql("alter table message_elsewhere rename to message"))
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(received).not.toMatch(/\]\}\r\n0\r\n\r\n$/)
    expect(linesOf("a response could not be completed")).toMatchObject([
      { level: 50, err: { message: expect.stringContaining("message") } },
    ])
    expect(await isReady()).toBe(true)
  })

  it("a file that cannot be read cuts its response", async () => {
    const form = new FormData()
    form.append("file", new Blob(["Some text"], { type: "text/plain" }), "a.txt")
    const uploaded = await fetch(`${w.url}/api/media/upload`, { method: "POST", headers: { "X-Access-Token": w.acme.token }, body: form })
    const { id, url } = (await uploaded.json()) as { id: string; url: string }
    const [{ storage_key: key }] = await w.sql("select storage_key from media where id = $1", [id])
    const path = join(w.services.config.dataDir, "media", key)
    await rm(path)
    await mkdir(path)
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow()
    await rm(path, { recursive: true })
    expect(await isReady()).toBe(true)
  })

  const onLinux = existsSync("/dev/full") ? it : it.skip
  onLinux(`${existsSync("/dev/full") ? "" : "(needs /dev/full) "}standard output and the log on a full disk do no harm`, async () => {
    const probe = createServer().listen(0, "127.0.0.1")
    await once(probe, "listening")
    const { port } = probe.address() as { port: number }
    probe.close()
    const full = openSync("/dev/full", "w")
    const env = { ...serverEnvironment(w), PORT: String(port), LOG_LEVEL: "trace" }
    const child = spawn(process.execPath, ["dist/server/main.js"], { env, stdio: ["ignore", full, full] })
    closeSync(full)
    const ended = once(child, "exit")
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until("the server is ready", async () => child.exitCode !== null || (await answers()))
    expect([child.exitCode, await answers(), await answers()]).toEqual([null, true, true])
    child.kill("SIGTERM")
    expect(await happens("the server has ended", ended)).toEqual([0, null])
  })
})

it("migrations whose lock is lost fail, and may be started again", async () => {
  const { url, sql } = await emptyDatabase()
  const database = await connect(url)
  await migrate(database)
  await using holder = await openTransaction(url)
  await holder.query("lock table mikro_orm_migrations")
  const migrated = migrate(database).catch((error: Error) => error.message)
  await until(
    "the migrations wait for their lock",
    async () => (await sql("select from pg_locks where not granted and relation = 'mikro_orm_migrations'::regclass")).length === 1,
  )
  await sql(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and objid = 7304211 and database = (select oid from pg_database where datname = current_database())",
  )
  expect(await migrated).toMatch(/terminat/)
  await holder.rollback()
  await migrate(database)
  await database.close()
  await closeDatabases()
})

it("an extractor that ends between two documents is replaced", async () => {
  const extractor = new DocumentProcesses()
  const read = () => extractor.text("company", { bytes: Buffer.from("words"), type: "text/plain" }, new AbortController().signal)
  expect(await read()).toBe("words")
  const all = processesOf(extractor)
  const [child] = all.keys()
  child!.kill("SIGKILL")
  await until("the extractor has ended", () => all.size === 0)
  expect(await read()).toBe("words")
  await extractor.close()
})

it("a file that cannot be sent to a bucket fails its upload", async () => {
  const s3 = await fakeS3()
  const options = { bucket: s3.bucket, endpoint: s3.endpoint, region: "eu-central-1", accessKeyId: "id", secretAccessKey: "secret" }
  // A folder has a size, and cannot be read.
  await expect(s3Storage(options).put("company/file", tmpdir())).rejects.toThrow("EISDIR")
  await s3.close()
  await expect(s3Storage(options).put("company/file", "package.json")).rejects.toThrow("ECONNREFUSED")
})

it("a PostgreSQL that cannot be started fails the start with one line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "failing-"))
  chmodSync(folder, 0o755)
  const home = { ...openHome(folder), binaries: join(folder, "nothing") }
  try {
    await expect(initialise(home)).rejects.toThrow(/^PostgreSQL could not initialise .*ENOENT$/)
    const started = launch(home, 1, 128)
    await until("PostgreSQL has failed to start", () => started.ended() !== undefined)
    expect(started.ended()).toContain("ENOENT")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
