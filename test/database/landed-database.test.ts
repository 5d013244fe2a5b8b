import { readdir } from "node:fs/promises"
import supertest from "supertest"
import { execute } from "../../src/admin/command-line.js"
import { closeDatabases, type EmptyDatabase, emptyDatabase, testSecrets } from "../kit/databases.js"
import { landedDatabase, landedVersions, restoreLanded } from "../kit/landed-database.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"

/** Removes fields that the older version did not have, and signed addresses, which differ each time. */
function asOlderVersion(answer: unknown, older: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(older)) return answer.map((item, index) => asOlderVersion(item, older[index]))
  if (!answer || typeof answer !== "object" || !older || typeof older !== "object") return answer
  const fields = Object.keys(older)
  return Object.fromEntries(
    fields.map((name) => [name, asOlderVersion((answer as Record<string, unknown>)[name], (older as Record<string, unknown>)[name])]),
  )
}

const signed = ["url", "recordingUrl"]
const withoutSignatures = (answer: unknown) =>
  JSON.parse(JSON.stringify(answer, (name, value) => (signed.includes(name) && value ? "signed" : value)))

/** Tables whose rows are deleted after some time. */
const passing = /^agenda|^event(?!_webhook)|^assistant_turn$|^chat_count_change$/

/** Nothing else is deleted for its age: the rows are older with each day. */
const kept = { TOOL_LOG_RETENTION_DAYS: "0", AUDIT_RETENTION_DAYS: "0" }

it("is here for this version: a new migration needs one, which scripts/landed-database.ts writes", async () => {
  const migrations = (await readdir("migrations")).filter((name) => /^Migration.*\.ts$/.test(name)).sort()
  expect(landedVersions.at(-1)).toBe(migrations.at(-1)!.replace(".ts", ""))
})

describe.each(landedVersions)("a database whose last migration is %s", (version) => {
  const landed = landedDatabase(version)
  const { demo, dueChatId, answers } = landed
  let database: EmptyDatabase
  let url: string

  beforeAll(async () => {
    database = await emptyDatabase()
    await restoreLanded(database, landed)
    const server = await database.start({ DEMO: "false", REPLY_DEBOUNCE_MS: "50", REPLY_MAX_WAIT_MS: "100", ...kept })
    url = `http://127.0.0.1:${server.port}`
  })
  afterAll(closeDatabases)

  const get = async (path: string) => (await supertest(url).get(path).set("X-Access-Token", demo.token).expect(200)).body

  it("keeps every row of every table", async () => {
    for (const [table, rows] of Object.entries(landed.rows)) {
      if (passing.test(table)) continue
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

  it("has sums and counters that are right", async () => {
    const { code, stdout } = await execute(["check:counters", "--json"], {
      ...testSecrets,
      DATABASE_URL: database.url,
      DATA_DIR: database.dataDir,
    })
    expect([code, JSON.parse(stdout)]).toEqual([0, []])
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
