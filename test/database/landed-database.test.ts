import { readFileSync } from "node:fs"
import { PostgresBackend } from "@agendajs/postgres-backend"
import supertest from "supertest"
import { connect } from "../../src/database/connect.js"
import { closeDatabases, type EmptyDatabase, emptyDatabase } from "../kit/databases.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"

/**
 * A database of the version that landed before this one, as JSON: its migrations, its rows, and what its REST routes answered. Made by
 * scripts/landed-database.ts in a checkout of that version.
 */
interface LandedDatabase {
  demo: { token: string; email: string; password: string; widgetId: string; assistantId: string }
  /** A chat with a customer's message whose reply was due when the old server ended. */
  dueChatId: string
  answers: Record<string, unknown>
  migrations: string[]
  rows: Record<string, Record<string, unknown>[]>
}

const landed: LandedDatabase = JSON.parse(readFileSync("test/fixtures/landed-database.json", "utf8"))
const { demo, dueChatId, answers } = landed

/** Removes fields that the older version did not have, and signed addresses, which differ each time. */
function asOlderVersion(answer: unknown, older: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(older)) return answer.map((item, index) => asOlderVersion(item, older[index]))
  if (!answer || typeof answer !== "object" || !older || typeof older !== "object") return answer
  const fields = Object.keys(older)
  return Object.fromEntries(
    fields.map((name) => [name, asOlderVersion((answer as Record<string, unknown>)[name], (older as Record<string, unknown>)[name])]),
  )
}

const withoutSignatures = (answer: unknown) => JSON.parse(JSON.stringify(answer, (name, value) => (name === "url" ? "signed" : value)))

/** Brings an empty database to the state of the older version: its migrations, then its rows as they were. */
async function restore(database: EmptyDatabase) {
  const older = await connect(database.url)
  await older.orm.migrator.up({ migrations: landed.migrations })
  await new PostgresBackend({ pool: older.pool }).connect()
  for (const [table, rows] of Object.entries(landed.rows)) {
    const columns = await database.sql(
      "select string_agg(quote_ident(column_name), ', ') as list from information_schema.columns where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'",
      [table],
    )
    const { list } = columns[0]
    // In one statement with triggers and references off: the rows are consistent with one another, whatever their order.
    const text = `with off as (select set_config('session_replication_role', 'replica', true))
      insert into "${table}" (${list}) overriding system value select ${list} from off, json_populate_recordset(null::"${table}", $1)`
    await database.sql(`delete from "${table}"`)
    await database.asSuperuser(text, [JSON.stringify(rows)])
    await database.sql(
      `select setval(pg_get_serial_sequence($1, column_name), (select max((to_jsonb(t) ->> column_name)::bigint) from "${table}" t))
       from information_schema.columns where table_schema = 'public' and table_name = $1 and pg_get_serial_sequence($1, column_name) is not null`,
      [table],
    )
  }
  await older.close()
}

describe("a database of the version that landed last", () => {
  let database: EmptyDatabase
  let url: string

  beforeAll(async () => {
    database = await emptyDatabase()
    await restore(database)
    const server = await database.start({ DEMO: "false", REPLY_DEBOUNCE_MS: "50", REPLY_MAX_WAIT_MS: "100" })
    url = `http://127.0.0.1:${server.port}`
  })
  afterAll(closeDatabases)

  const get = async (path: string) => (await supertest(url).get(path).set("X-Access-Token", demo.token).expect(200)).body

  it("keeps every row of every table", async () => {
    for (const [table, rows] of Object.entries(landed.rows)) {
      if (/^agenda|^event/.test(table)) continue
      const ids = rows.map(({ id }) => String(id)).filter((id) => id !== "undefined")
      const [found] = await database.sql(
        `select count(*)::integer as count from "${table}" where to_jsonb("${table}") ->> 'id' = any($1)`,
        [ids],
      )
      expect({ table, count: found.count }).toEqual({ table, count: ids.length })
    }
  })

  it.each(Object.keys(answers).filter((path) => !path.startsWith("/api/chats?")))("answers GET %s as before", async (path) => {
    const answer = asOlderVersion(await get(path), answers[path])
    expect(withoutSignatures(answer)).toEqual(withoutSignatures(answers[path]))
  })

  it("signs its users in with their passwords", async () => {
    const { email, password } = demo
    await supertest(url).post("/api/auth/sign-in").send({ email, password }).expect(200)
  })

  promised("answers the message whose reply was due, once", async () => {
    const answered = async () =>
      (await get(`/api/messages?chatId=${dueChatId}`)).data.filter(({ role }: { role: string }) => role === "Assistant")
    // The reply was due by the clock of the older server, and the sweep of the new one finds it.
    await until("the message is answered", async () => (await answered()).length > 0)
    expect(await answered()).toHaveLength(1)
  })

  it("searches its knowledge, and takes new messages", async () => {
    const query = { assistantId: demo.assistantId, query: "When does the shop in Vienna open?" }
    const found = await supertest(url).post("/api/assistant-knowledge-new/query").set("X-Access-Token", demo.token).send(query).expect(201)
    expect(JSON.stringify(found.body)).toContain("opens at 9")
    await supertest(url).post(`/hooks/widget/${demo.widgetId}`).send({ text: "Hello again" }).expect(201)
  })
})
