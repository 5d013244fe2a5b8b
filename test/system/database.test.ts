import { readdir, readFile, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import supertest from "supertest"
import { v7 } from "uuid"
import { prepareDemo } from "../../src/admin/demo.js"
import { connect } from "../../src/database/connect.js"
import { migrate } from "../../src/database/migrate.js"
import { rootLimits } from "../../src/limits.js"
import { closeDatabases, type EmptyDatabase, emptyDatabase } from "../kit/databases.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

afterAll(closeDatabases)

const files = (await readdir("migrations")).filter((file) => file.endsWith(".ts")).map((file) => file.replace(".ts", ""))
const executed = async ({ sql }: EmptyDatabase) => (await sql("select name from mikro_orm_migrations order by id")).map(({ name }) => name)

/** Connections close with a delay. */
async function nothingIsOpen(database: EmptyDatabase) {
  await until(
    "no connection is open",
    async () => (await database.connections()) === 0,
    () => database.connections(),
  )
  expect(await database.connections()).toBe(0)
}

describe("the schema", () => {
  it("is created once by servers that start at the same time on an empty database, and another start changes nothing", async () => {
    const database = await emptyDatabase()
    const servers = await Promise.all([database.start(), database.start(), database.start()])
    for (const { port } of servers) await supertest(`http://127.0.0.1:${port}`).get("/health/ready").expect(200)
    expect(await executed(database)).toEqual(files)
    expect(await database.sql("select id from event_log")).toEqual([{ id: 1 }])

    const state = () =>
      database.sql(
        `select (select json_agg(c order by c.table_name, c.ordinal_position) from information_schema.columns c where table_schema = 'public') as columns,
                (select json_agg(m order by m.id) from mikro_orm_migrations m) as migrations`,
      )
    const before = await state()
    await database.start()
    expect(await state()).toEqual(before)
  })

  it("that is newer than the code is refused with a sentence, and no connection stays open", async () => {
    const database = await emptyDatabase()
    await (await database.start()).stop()
    await database.sql("insert into mikro_orm_migrations (name, executed_at) values ('Migration20991231000000_future', now())")
    const refusal = await database.start().catch((error: Error) => error)
    expect(refusal).toBeInstanceOf(Error)
    expect(refusal).toMatchObject({
      message: expect.stringMatching(/newer schema than this version knows \(Migration20991231000000_future\)/),
      stack: undefined,
    })
    await nothingIsOpen(database)
  })

  it("of every past version is migrated with its data", async () => {
    const database = await emptyDatabase()
    const old = await connect(database.url)
    await old.orm.migrator.up({ to: files[0]! })
    expect(await executed(database)).toEqual([files[0]])
    const [company, assistant, chat, message] = [v7(), v7(), v7(), v7()]
    await database.sql("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Old')", [company])
    await database.sql(
      `insert into assistant (id, created_at, updated_at, company_id, name, text_model_id, excluded_tags)
       values ($1, now(), now(), $2, 'Ada', gen_random_uuid(), '{}')`,
      [assistant, company],
    )
    await database.sql(
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, assistant_id)
       values ($1, now(), now(), $2, 'playground', 'p', $3)`,
      [chat, company, assistant],
    )
    await database.sql(
      `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, status)
       values ($1, now(), now(), $2, $3, 1, 'Customer', 'Text', 'Hello', 'stored')`,
      [message, company, chat],
    )

    for (const name of ["Straße", "STRASSE"])
      await database.sql("insert into chat_tag (id, created_at, updated_at, company_id, name) values ($1, now(), now(), $2, $3)", [
        v7(),
        company,
        name,
      ])

    await migrate(old)
    await old.close()
    expect(await executed(database)).toEqual(files)
    expect(await database.sql("select id, assistant_id, company_id from chat")).toEqual([
      { id: chat, assistant_id: assistant, company_id: company },
    ])
    expect(await database.sql("select id, text from message")).toEqual([{ id: message, text: "Hello" }])
    // Two names that became equal.
    expect(await database.sql("select name from chat_tag order by id")).toEqual([{ name: "Straße" }, { name: "STRASSE 2" }])
    await database.sql("delete from assistant")
    expect(await database.sql("select assistant_id, company_id from chat")).toEqual([{ assistant_id: null, company_id: company }])
    await expect(
      database.sql("update chat set assistant_id = gen_random_uuid()").then(
        () => "taken",
        (error) => error.code,
      ),
    ).resolves.toBe("23503")
  })
})

describe("a start that fails half way", () => {
  it("because the port is in use leaves nothing open", async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve))
    const database = await emptyDatabase()
    const { port } = taken.address() as AddressInfo
    await expect(database.start({ PORT: String(port) })).rejects.toThrow(/in use/)
    await nothingIsOpen(database)
    await new Promise((resolve) => taken.close(resolve))
    const server = await database.start({ PORT: String(port) })
    await supertest(`http://127.0.0.1:${port}`).get("/health/ready").expect(200)
    await server.stop()
    await nothingIsOpen(database)
  })

  it("because its secrets are damaged leaves nothing open", async () => {
    const database = await emptyDatabase()
    await writeFile(join(database.dataDir, "secrets.json"), "{ damaged")
    await expect(database.start({ JWT_SECRET: "", ENCRYPTION_KEY: "" })).rejects.toThrow(/secrets\.json is damaged/)
    await nothingIsOpen(database)
  })

  it("because there is no database prints the reason, without the password", async () => {
    const refusal: Error = await connect("postgres://someone:private@127.0.0.1:1/nothing").catch((error) => error)
    expect(refusal.message).toMatch(/^The database at 127\.0\.0\.1:1 cannot be reached: /)
    expect(refusal.message).not.toContain("private")
    expect(refusal.stack).toBeUndefined()
  })
})

it("a server continues when the database ends all its connections, and receives notifications again", async () => {
  const database = await emptyDatabase()
  const { port, services } = await database.start()
  const ready = () => supertest(`http://127.0.0.1:${port}`).get("/health/ready")
  await ready().expect(200)
  let heard = 0
  services.wakeUp.subscribe("credentials", () => {
    heard += 1
  })
  await database.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()",
  )
  await until("the server is ready again", async () => (await ready()).status === 200)
  await ready().expect(200)
  await until("the server receives a notification", async () => {
    await services.wakeUp.publish("credentials", v7())
    return heard > 0
  })
  expect(heard).toBeGreaterThan(0)
})

it("ends a transaction that an instance left open, and frees the rows that it locked", async () => {
  const database = await emptyDatabase()
  const { services } = await database.start()
  await prepareDemo(services)
  const left = await services.database.pool.connect()
  const { rows } = await left.query("select setting::integer as ms from pg_settings where name = 'idle_in_transaction_session_timeout'")
  expect(rows).toEqual([{ ms: rootLimits.idleTransactionMs }])
  await left.query("begin")
  await left.query("select from company for update")
  // Last, so that it cannot end the transaction before it has locked anything.
  await left.query("set idle_in_transaction_session_timeout = 50")
  await database.sql("update company set name = 'Renamed'")
  await expect(left.query("commit")).rejects.toThrow()
})

describe("the demo company", () => {
  it("is created once, stored in a file that only its owner can read, and works", async () => {
    const database = await emptyDatabase()
    const server = await database.start()
    const demo = (await prepareDemo(server.services))!
    const file = join(database.dataDir, "demo.json")
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(demo)
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const ask = supertest(`http://127.0.0.1:${server.port}`)
    await ask.post("/api/auth/sign-in").send({ email: demo.email, password: demo.password }).expect(200)
    const visit = await ask.post(`/hooks/widget/${demo.widgetId}`).send({ text: "How long does delivery take?" }).expect(201)
    const chat = await ask.get(`/api/chats/${visit.body.chatId}`).set("X-Access-Token", demo.token).expect(200)
    expect(chat.body).toMatchObject({ companyId: demo.companyId, assistantId: demo.assistantId, isUnderAiControl: true })

    await server.stop()
    const again = await database.start()
    expect(await prepareDemo(again.services)).toEqual(demo)
    expect(await database.sql("select id from company")).toEqual([{ id: demo.companyId }])
  })

  it("is created again on an empty database, when the stored one does not exist", async () => {
    const [first, second] = [await emptyDatabase(), await emptyDatabase()]
    const old = (await prepareDemo((await first.start()).services))!
    const server = await second.start({ DATA_DIR: first.dataDir })
    const demo = (await prepareDemo(server.services))!
    expect(demo.companyId).not.toBe(old.companyId)
    expect(await second.sql("select id from company")).toEqual([{ id: demo.companyId }])
    expect(JSON.parse(await readFile(join(first.dataDir, "demo.json"), "utf8"))).toEqual(demo)
  })

  it("is not created on a database with a company", async () => {
    const database = await emptyDatabase()
    const server = await database.start()
    await database.sql("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Theirs')", [v7()])
    expect(await prepareDemo(server.services)).toBeNull()
    expect(await database.sql("select name from company")).toEqual([{ name: "Theirs" }])
    expect(await readdir(database.dataDir)).toEqual([])
  })

  it("is created by one of two servers that start at once", async () => {
    const database = await emptyDatabase()
    const servers = [await database.start(), await database.start()]
    const demos = await Promise.all(servers.map(({ services }) => prepareDemo(services)))
    const made = demos.filter((demo) => demo !== null)
    expect(made).toHaveLength(1)
    expect(await database.sql("select id from company")).toEqual([{ id: made[0]!.companyId }])
  })
})

describe("the event log", () => {
  const w = world()
  const { acme, globex, sql } = w

  it("has one position for each event, whichever instance wrote it, and a chat's events in the order of its messages", async () => {
    const second = await w.another()
    const chats = await Promise.all([acme.chat(), acme.chat(), globex.chat(), globex.chat()])
    const write = (index: number) => {
      const chat = chats[index % chats.length]!
      const [url, token] = [index % 3 ? w.url : second.url, chat.companyId === acme.id ? acme.token : globex.token]
      return supertest(url).post("/api/messages").set("X-Access-Token", token).send({ chatId: chat.id, text: "Hello" }).expect(201)
    }
    for (let round = 0; round < 6; round += 1) await Promise.all(Array.from({ length: 20 }, (_, index) => write(index)))
    await Promise.all([w.services.sequencer.poke(), second.services.sequencer.poke()])

    const events = await sql("select position::integer, chat_id, type, payload from event order by position")
    expect(events.map(({ position }) => position)).toEqual(events.map((_event, index) => index + 1))
    expect(await sql("select last_position::integer as last from event_log")).toEqual([{ last: events.length }])
    for (const chat of chats) {
      const own = events.filter(({ chat_id, type }) => chat_id === chat.id && type === "MESSAGE_CREATED")
      expect(own.map(({ payload }) => payload.message.sequence)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    }
  })
})
