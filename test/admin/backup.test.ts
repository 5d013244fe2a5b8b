import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { unzipSync, zipSync } from "fflate"
import pino from "pino"
import { Webhook } from "standardwebhooks"
import { backUp } from "../../src/admin/backup.js"
import { BackupWriter } from "../../src/admin/backup-file.js"
import { execute } from "../../src/admin/command-line.js"
import { type Demo, prepareDemo } from "../../src/admin/demo.js"
import { readConfig } from "../../src/config/config.js"
import { loadSecrets } from "../../src/config/secrets.js"
import { connect } from "../../src/database/connect.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { storage } from "../../src/ports/index.js"
import { routeTable } from "../../src/rest/table.js"
import { startServer } from "../../src/server.js"
import { closeDatabases, type EmptyDatabase, emptyDatabase, testSecrets } from "../kit/databases.js"
import { publicFolder } from "../kit/files.js"
import { landedDatabase, landedVersions, restoreLanded } from "../kit/landed-database.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { until } from "../kit/wait.js"

const folder = mkdtempSync(join(tmpdir(), "backup-"))
afterAll(async () => {
  await closeDatabases()
  rmSync(folder, { recursive: true })
})

/** Runs a command of the administration, and parses what it prints. */
async function admin(environment: Record<string, string>, ...args: string[]) {
  const { code, stdout, stderr } = await execute([...args, "--json"], environment)
  return { code, stderr, answer: stdout && JSON.parse(stdout) }
}

/** Requests to a server with the demo's access token. */
function client(url: string, { token }: Demo) {
  const send = async (method: string, path: string, body?: object | FormData) => {
    const isForm = body instanceof FormData
    const headers = { "X-Access-Token": token, ...(body && !isForm && { "Content-Type": "application/json" }) }
    const response = await fetch(url + path, { method, headers, body: isForm ? body : body ? JSON.stringify(body) : null })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} → ${response.status} ${text}`)
    return JSON.parse(text)
  }
  return { get: (path: string) => send("GET", path), post: (path: string, body: object = {}) => send("POST", path, body) }
}

/** What each GET route answers: lists, and each object of a list where there is a route for one. Signatures of addresses differ in each answer. */
async function answersOf(url: string, demo: Demo): Promise<Record<string, unknown>> {
  const { get } = client(url, demo)
  const answers: Record<string, unknown> = {}
  const paths = routeTable.filter(({ method }) => method === "GET").map(({ path }) => path)
  // The token belongs to no user, and the use of a token is noted.
  for (const path of paths.filter((each) => !each.includes("{") && !/auth|messages$/.test(each))) {
    answers[path] = await get(path)
    if (!paths.includes(`${path}/{id}`)) continue
    const list = answers[path] as { data?: { id: string }[] } & { id: string }[]
    for (const { id } of list.data ?? list) answers[`${path}/${id}`] = await get(`${path}/${id}`)
  }
  for (const { id } of (answers["/api/chats"] as { data: { id: string }[] }).data) {
    const messages = await get(`/api/messages?chatId=${id}`)
    answers[`messages of ${id}`] = messages
    for (const [, address] of JSON.stringify(messages).matchAll(/"url":"[^"]+(\/media\/[^"]+)"/g))
      answers[`content of ${address!.split("?")[0]}`] = await (await fetch(url + address)).text()
  }
  return JSON.parse(
    JSON.stringify(answers)
      .replace(/\/media\/([0-9a-f-]+)\?[^"]*/g, "/media/$1")
      .replaceAll(url, "server"),
  )
}

const fileOf = (name: string) => join(folder, `${name}.zip`)
const of = ({ url, dataDir }: EmptyDatabase, env: Record<string, string> = testSecrets) => ({
  DATABASE_URL: url,
  DATA_DIR: dataDir,
  ...env,
})
const demoOf = (dataDir: string): Demo => JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8"))
const quiet = { DEMO: "true", REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000", ALLOW_PRIVATE_NETWORK: "true" }
const addressOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}`

/** A database with the demo, whose server runs and is left alone. */
async function demoSource() {
  const database = await emptyDatabase()
  const server = await database.start(quiet)
  const demo = (await prepareDemo(server.services))!
  const ungrouped = "select from asked_question where group_id is null limit 1"
  await until("the questions of the past are grouped", async () => (await database.sql(ungrouped)).length === 0)
  return { database, server, demo, url: addressOf(server), ...client(addressOf(server), demo) }
}

describe("a backup", () => {
  let source: Awaited<ReturnType<typeof demoSource>>
  beforeAll(async () => {
    source = await demoSource()
  })

  it("is restored into another database, where a server answers the same requests, and can read the credentials", async () => {
    const { database, demo, url, post } = source
    const form = new FormData()
    form.set("file", new File(["Delivery: 2 to 3 working days."], "delivery.txt", { type: "text/plain" }))
    const media = await post("/api/media/upload", form)
    const chat = await post("/api/chats", { messenger: "playground", fromId: "drill", externalId: "1", name: "Ada" })
    await post("/api/messages", { chatId: chat.id, text: "In this file.", mediaIds: [media.id] })
    const events = await receiver()
    const endpoint = await post("/api/event-webhooks", { url: events.url, types: ["CHAT_DELETED"] })
    const before = await answersOf(url, demo)
    expect(Object.keys(before).length).toBeGreaterThan(50)

    const file = fileOf("drill")
    const made = await admin(of(database), "database:backup", file)
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("PostgreSQL database") })
    expect(made.answer).toMatchObject({ file, media: { files: 1, bytes: 30, missing: [] }, files: ["demo.json"] })
    expect([readdirSync(folder), statSync(file).mode & 0o777]).toEqual([["drill.zip"], 0o600])

    const target = await emptyDatabase()
    const restored = await admin(of(target), "database:restore", file)
    expect(restored).toMatchObject({ code: 0, answer: { rows: made.answer.rows, media: { files: 1, missing: 0 }, countersThatDiffer: 0 } })
    const other = addressOf(await target.start(quiet))
    expect(demoOf(target.dataDir)).toEqual(demo)
    expect(await answersOf(other, demo)).toEqual(before)
    const { status } = await client(other, demo).post(`/api/event-webhooks/${endpoint.id}/test`)
    expect(status).toBe("succeeded")
    await events.close()
    new Webhook(endpoint.secret).verify(events.requests[0]!.body, events.requests[0]!.headers as Record<string, string>)
  })

  it("is refused when the storage has none of the files, as with another DATA_DIR than the server has, unless they may be missing", async () => {
    const elsewhere = { ...of(source.database), DATA_DIR: publicFolder(folder) }
    const { code, stderr } = await admin(elsewhere, "database:backup", fileOf("without"))
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^None of 1 uploaded files is in .*the command needs the DATA_DIR/)])
    expect(existsSync(fileOf("without"))).toBe(false)
    const made = await admin(elsewhere, "database:backup", fileOf("without"), "--allow-missing")
    expect(made).toMatchObject({ code: 0, answer: { media: { files: 0, missing: [expect.any(String)] } } })
  })

  promised("is of one moment, also while customers write", async () => {
    const { database, demo, url } = source
    let isDone = false
    const write = async (customer: number) => {
      let visitorToken: string | undefined
      for (let n = 0; !isDone; n += 1) {
        const body = JSON.stringify({ text: `Hello ${n}`, messageId: `${customer}-${n}`, visitorToken })
        const response = await fetch(`${url}/hooks/widget/${demo.widgetId}`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body,
        })
        if (response.status === 201) ({ visitorToken } = (await response.json()) as { visitorToken: string })
      }
    }
    const writing = Promise.all([write(1), write(2), write(3)])
    const made = await admin(of(database), "database:backup", fileOf("busy"))
    isDone = true
    await writing
    expect(made.code).toBe(0)
    const target = await emptyDatabase()
    expect(await admin(of(target), "database:restore", fileOf("busy"))).toMatchObject({ code: 0, answer: { countersThatDiffer: 0 } })
  })

  it("of an embedded database has the keys, and the message whose reply was due is answered after the restore, once", async () => {
    const [from, to] = [publicFolder(folder), publicFolder(folder)]
    const first = await started(from, { DEMO: "true", REPLY_DEBOUNCE_MS: "3000", REPLY_MAX_WAIT_MS: "6000" })
    const demo = (await prepareDemo(first.services))!
    const { chatId } = await client(first.url, demo).post(`/hooks/widget/${demo.widgetId}`, { text: "How long does delivery take?" })
    await first.stop()
    const file = fileOf("embedded")
    expect(await admin({ DATA_DIR: from }, "database:backup", file)).toMatchObject({
      code: 0,
      answer: { files: ["secrets.json", "demo.json"] },
    })
    expect(await admin({ DATA_DIR: to }, "database:restore", file)).toMatchObject({ code: 0, answer: { countersThatDiffer: 0 } })
    expect(readFileSync(join(to, "secrets.json"), "utf8")).toBe(readFileSync(join(from, "secrets.json"), "utf8"))
    const second = await started(to, { DEMO: "true" })
    const answers = async () => {
      const { data } = await client(second.url, demo).get(`/api/messages?chatId=${chatId}&take=10`)
      return data.filter(({ role }: { role: string }) => role === "Assistant")
    }
    await until("the message is answered", async () => (await answers()).length > 0)
    expect(await answers()).toHaveLength(1)
    await second.stop()
  })

  it("of the first version that landed is brought to this version", async () => {
    const older = await emptyDatabase()
    const landed = landedDatabase(landedVersions[0]!)
    await restoreLanded(older, landed)
    const database = await connect(older.url)
    const source = { config: readConfig(of(older)), database, secrets: await loadSecrets(readConfig(of(older))) }
    // The fixture has no files.
    await backUp(source, await storage(source.config), fileOf("landed"), true)
    await database.close()
    const target = await emptyDatabase()
    expect(await admin(of(target), "database:restore", fileOf("landed"))).toMatchObject({ code: 0, answer: { countersThatDiffer: 0 } })
    const url = addressOf(await target.start(quiet))
    expect((await client(url, landed.demo as Demo).get("/api/chats")).data.length).toBeGreaterThan(0)
  })
})

describe("a restore is refused", () => {
  let file: string
  let source: Awaited<ReturnType<typeof demoSource>>
  const refused = async (environment: Record<string, string>, from: string, why: string | RegExp) => {
    const { code, stderr } = await admin(environment, "database:restore", from)
    expect([code, stderr]).toEqual([1, expect.stringMatching(why)])
  }
  beforeAll(async () => {
    source = await demoSource()
    const form = new FormData()
    form.set("file", new File(["Delivery: 2 to 3 working days."], "delivery.txt", { type: "text/plain" }))
    await source.post("/api/media/upload", form)
    file = fileOf("refused")
    await admin(of(source.database), "database:backup", file)
  })

  it("where there are companies, also when they are those of the backup", async () => {
    const before = await source.get("/api/chats")
    await refused(of(source.database), file, /^The database has companies already: restore into an empty one \(PostgreSQL database /)
    expect(await source.get("/api/chats")).toEqual(before)
  })

  it("of a file that is no backup, of one that is cut off, and of one that does not exist", async () => {
    const target = await emptyDatabase()
    writeFileSync(fileOf("text"), "no backup")
    copyFileSync(file, fileOf("cut"))
    truncateSync(fileOf("cut"), Math.floor(statSync(file).size / 2))
    for (const name of ["text", "cut"]) await refused(of(target), fileOf(name), `${fileOf(name)} is no complete backup`)
    await refused(of(target), fileOf("missing"), `${fileOf("missing")} cannot be read: ENOENT`)
    expect(await target.sql("select from pg_tables where schemaname = 'public'")).toEqual([])
  })

  it("of one with damaged bytes, in one line", async () => {
    const target = await emptyDatabase()
    const bytes = readFileSync(file)
    const at = bytes.indexOf("tables/message") + "tables/message".length + 4
    writeFileSync(fileOf("bytes"), bytes.fill(0xff, at, at + 20))
    await refused(of(target), fileOf("bytes"), /^The backup is damaged at tables\/message[a-z_]*: .*\n$/)
    expect((await target.sql("select count(*)::integer as count from company"))[0]).toEqual({ count: 0 })
  })

  it("with other keys, and without any, which could not read the credentials", async () => {
    const target = await emptyDatabase()
    await refused(of(target, { ...testSecrets, ENCRYPTION_KEY: "11".repeat(32) }), file, "ENCRYPTION_KEY is not that of the server")
    await refused(of(target, {}), file, "The backup has no keys: set JWT_SECRET and ENCRYPTION_KEY")
    expect(await target.sql("select from pg_tables where schemaname = 'public'")).toEqual([])
  })

  it.each([
    ["a row", "tables/message", /violates|rows in the backup|invalid input/],
    ["a file", "media/", /is not the one that was backed up/],
  ])("and leaves an empty database, into which it can be restored, when %s does not fit", async (_what, entry, why) => {
    const target = await emptyDatabase()
    const damaged = fileOf("damaged")
    await withRepeated(file, damaged, entry)
    await refused(of(target), damaged, why)
    expect((await target.sql("select count(*)::integer as count from company"))[0]).toEqual({ count: 0 })
    expect(await admin(of(target), "database:restore", file)).toMatchObject({ code: 0, stderr: "" })
  })

  it("while a server runs on the database of DATA_DIR", async () => {
    const dataDir = publicFolder(folder)
    const server = await started(dataDir, { DEMO: "false", ...testSecrets })
    await refused({ DATA_DIR: dataDir, ...testSecrets }, file, "A server already runs")
    await server.stop()
  })
})

it("a backup never overwrites a file, and leaves none behind when it fails", async () => {
  const database = await emptyDatabase()
  writeFileSync(fileOf("taken"), "mine")
  await admin(of(database), "database:migrate")
  const { code, stderr } = await admin(of(database), "database:backup", fileOf("taken"))
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${fileOf("taken")} exists already`)])
  expect(readFileSync(fileOf("taken"), "utf8")).toBe("mine")
  // One that is interrupted has not the name of a backup.
  const interrupted = await BackupWriter.create(fileOf("interrupted"))
  expect(existsSync(fileOf("interrupted"))).toBe(false)
  await interrupted.abandon()
  // Rows that cannot be read, and a statement after them that fails.
  const faults = [
    ["revoke select on chat from current_user", "grant select on chat to current_user"],
    ["alter table media rename column storage_key to key", "alter table media rename column key to storage_key"],
  ]
  for (const [fault, mend] of faults) {
    await database.sql(fault!)
    const failed = await admin(of(database), "database:backup", fileOf("failed"))
    expect([failed.code, readdirSync(folder).filter((name) => name.startsWith("failed"))]).toEqual([1, []])
    await database.sql(mend!)
  }
  expect(await admin(of(database), "database:backup", fileOf("mended"))).toMatchObject({ code: 0 })
})

/** Starts a server on the embedded database of a DATA_DIR, in this process. */
async function started(dataDir: string, env: Record<string, string>) {
  const database = await openEmbedded({ dataDir, role: "server", log() {} })
  const config = readConfig({ DATA_DIR: dataDir, PORT: "0", ...env })
  const server = await startServer(config, database.url, pino({ level: "silent" }))
  const stop = async () => {
    await server.stop()
    await database.stop()
  }
  return { url: addressOf(server), services: server.services, stop }
}

/** Copies a backup, and repeats the content of the first entry whose name begins like this. */
async function withRepeated(from: string, to: string, begins: string) {
  const entries = unzipSync(readFileSync(from))
  const name = Object.keys(entries).find((each) => each.startsWith(begins))!
  entries[name] = Buffer.concat([entries[name]!, entries[name]!])
  writeFileSync(to, zipSync(entries))
}
