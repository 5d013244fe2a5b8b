import { v7 } from "uuid"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { addUpChatCounts } from "../../src/jobs/add-up-chat-counts.js"
import { administration, adminProcess, killedWhen } from "../kit/command-line.js"
import { companyFixture, createCompany } from "../kit/company-fixture.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { filesBelow, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { belongings, everythingOf } from "../kit/routes.js"
import { subscribe } from "../kit/sockets.js"
import { filesWith, tablesWith } from "../kit/traces.js"
import { openTransaction } from "../kit/transaction.js"
import { hold, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { type CompanyFixture, world } from "../kit/world.js"

const vendor = await new TelegramBotVendor({ secondMs: 20 }).listen()
const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([vendor.close(), openAi.close()]))
const telegram = { TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }
const w = world({ ...telegram, OPENAI_BASE_URL: openAi.url })
const { acme, rest, sql, gql } = w
const { done, refused, run } = administration(w, undefined, () => telegram)
const inProcess = administration(w, adminProcess, () => telegram)
const time = stillTime()
beforeAll(() => stopScheduler(w))

let companies = 0

const waitingForLock = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

/** A company with one row of each kind, whose texts and file have a word. */
async function fullCompany(word: string) {
  const name = `Shop ${++companies}`
  const company = companyFixture(w, await createCompany(w.services, name))
  const own = await belongings(company)
  await company.message({ chatId: own["chats"], text: word })
  const keyed = rest.as(company.token).post("/api/messages", { chatId: own["chats"], text: word })
  await keyed.set("Idempotency-Key", v7()).expect(201)
  const { body: media } = await upload(w, company.token, Buffer.from(`About ${word}`), `${word}.txt`).expect(201)
  await rest
    .as(company.token)
    .post("/api/messages", { chatId: own["chats"], mediaIds: [media.id] })
    .expect(201)
  return { company, own, options: { company: company.id, name } }
}

/** The tables in which a company has rows. */
async function tablesOf({ id }: Pick<CompanyFixture, "id">): Promise<string[]> {
  await addUpChatCounts.run(w.services)
  const tables: { name: string }[] = await sql(
    `select table_name as name from information_schema.columns where column_name = 'company_id' and table_schema = 'public' order by 1`,
  )
  const found = await Promise.all(tables.map(({ name }) => sql(`select 1 from "${name}" where company_id = $1 limit 1`, [id])))
  return tables.map(({ name }) => name).filter((_name, at) => found[at]!.length > 0)
}

promised("deletes everything that the company owns, and nothing of another one", async () => {
  const word = "Zwetschgenroester"
  const { company, own, options } = await fullCompany(word)
  await sql("insert into member (id, created_at, updated_at, company_id, user_id, role) values ($1, now(), now(), $2, $3, 'admin')", [
    v7(),
    company.id,
    acme.owner.id,
  ])
  await belongings(acme)
  await w.runDue()
  const before = await everythingOf(w, acme.id)
  expect((await tablesOf(company)).length).toBeGreaterThan(25)
  expect(filesWith(w.services.config.dataDir, word)).toHaveLength(1)

  const receipt = await inProcess.done("company:delete", options)
  expect(receipt).toEqual({
    command: "company:delete",
    companyId: company.id,
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
    records: { User: 3, Chat: 1, Message: expect.any(Number), Call: 1, Knowledge: 2, Media: expect.any(Number) },
  })
  expect(await tablesOf(company)).toEqual([])
  expect(await tablesWith(w, word)).toEqual([])
  expect(await tablesWith(w, company.id)).toEqual([])
  expect(filesBelow(w.services.config.dataDir).filter((path) => path.includes(company.id))).toEqual([])
  expect(await sql("select from company where id = $1", [company.id])).toEqual([])
  expect(await sql("select from users where id = any($1::uuid[])", [[company.owner.id, company.member.id]])).toEqual([])
  expect(await sql("select from session where user_id = $1", [company.owner.id])).toEqual([])
  expect(await everythingOf(w, acme.id)).toBe(before)
  expect((await gql(acme.owner.jwt, "{ me { id } }")).data.me.id).toBe(acme.owner.id)
  await rest.as(acme.token).get("/api/chats").expect(200)

  await rest.as(company.token).get(`/api/chats/${own["chats"]}`).expect(401)
  expect((await gql(company.owner.jwt, "{ me { id } }")).status).toBe(401)
  await rest.as({}).post(`/hooks/widget/${company.widget.id}`, { text: "Hello?" }).expect(404)
  expect(await refused(1, "company:delete", options)).toMatch(/No company has the id/)
})

promised("ends open sockets, and tells the vendor of a connected channel", async () => {
  const { company, options } = await fullCompany("Buchteln")
  const credentials = JSON.stringify({ botToken: vendor.token })
  const account = { messenger: "telegram-bot", "external-id": "shop_bot", name: "Shop", credentials }
  await done("channel:connect", { company: company.id, ...account })
  expect(vendor.hook).not.toBeNull()
  const heard = await subscribe(w, company.token, { types: ["CHAT_DELETED"] })
  await done("company:delete", options)
  expect(vendor.hook).toBeNull()
  expect((await heard.closed()).code).toBe(4401)
})

it("warns of a vendor that cannot be told, and deletes the company", async () => {
  const { company, options } = await fullCompany("Powidltascherl")
  const credentials = JSON.stringify({ botToken: vendor.token })
  const account = { messenger: "telegram-bot", "external-id": "shop_bot", name: "Shop", credentials }
  await done("channel:connect", { company: company.id, ...account })
  const ended = await administration(w, undefined, () => ({ ...telegram, TELEGRAM_BASE_URL: "http://127.0.0.1:1" })).run(
    "company:delete",
    options,
  )
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/The vendor of telegram-bot shop_bot was not told/) })
  expect(await tablesOf(company)).toEqual([])
})

promised("in the middle of a turn: what the model answers is not stored", async () => {
  const word = "Apfelstrudel"
  const { company, options } = await fullCompany(word)
  const chat = await company.chat({ assistantId: (await company.makeAssistant()).id })
  const model = hold(openAi)
  await company.message({ chatId: chat.id, text: `About ${word}?`, role: "Customer" })
  time.pass(4_000)
  const turn = w.runDue()
  const call = await model.next()
  await done("company:delete", options)
  call.answer({ text: `So it is with ${word}.` })
  await turn
  expect(await tablesOf(company)).toEqual([])
  expect(await tablesWith(w, word)).toEqual([])
})

promised("killed in between, is completed by the next run", async () => {
  const word = "Marillenknoedel"
  const { company, own, options } = await fullCompany(word)
  // The command waits for a chat that is locked, and is killed there.
  await using holder = await openTransaction(w.databaseUrl)
  await holder.query("select from chat where id = $1 for update", [own["chats"]])
  await administration(
    w,
    killedWhen(async () => (await sql(waitingForLock)).length > 0),
    () => telegram,
  ).run("company:delete", options)
  await holder.rollback()
  await until("the killed command's statement has ended", async () => (await sql(waitingForLock)).length === 0)
  expect(await tablesOf(company)).toContain("audit_entry")
  await rest.as(company.token).get("/api/chats").expect(401)
  await done("company:delete", options)
  expect(await tablesOf(company)).toEqual([])
  expect(await tablesWith(w, word)).toEqual([])
})

promised("while one of its members joins another company, keeps that user", async () => {
  const { company, options } = await fullCompany("Palatschinken")
  await using joining = await openTransaction(w.databaseUrl)
  const member = [v7(), acme.id, company.member.id]
  await joining.query(
    "insert into member (id, created_at, updated_at, company_id, user_id, role) values ($1, now(), now(), $2, $3, 'member')",
    member,
  )
  // As at the commit, which then follows at once.
  await joining.query("set constraints all immediate")
  const deletion = inProcess.done("company:delete", options)
  await until("the deletion waits for the user", async () => (await sql(waitingForLock)).length > 0)
  await joining.commit()
  expect(await deletion).toMatchObject({ records: { User: 2 } })
  expect(await sql("select company_id from member where user_id = $1", [company.member.id])).toEqual([{ company_id: acme.id }])
  expect((await gql(company.member.jwt, "{ me { id } }")).data.me.id).toBe(company.member.id)
  expect(await tablesOf(company)).toEqual([])
})

it("is refused while calls are in progress, and dials no more", async () => {
  const { company, own, options } = await fullCompany("Germknoedel")
  await sql("update call set status = 'in_progress' where id = $1", [own["calls-history"]])
  const heard = await subscribe(w, company.member.jwt, { types: ["CHAT_DELETED"] })
  expect(await refused(1, "company:delete", options)).toMatch(/^Calls in progress: 1\. The company is closed, but not deleted/)
  // The member is signed in, without a company.
  expect((await heard.closed()).code).toBe(4403)
  await rest.as(company.token).get("/api/chats").expect(401)
  expect((await rest.as(company.owner.jwt).get("/api/chats").expect(200)).body.data).toEqual([])
  await rest.as(company.owner.jwt).get(`/api/chats/${own["chats"]}`).expect(404)
  expect(await sql("select voice_lines from company where id = $1", [company.id])).toEqual([{ voice_lines: 0 }])
  await sql("update call set status = 'completed' where id = $1", [own["calls-history"]])
  await done("company:delete", options)
  expect(await tablesOf(company)).toEqual([])
})

it("is refused without the company's name, and with another one", async () => {
  const id = acme.id
  expect(await refused(2, "company:delete", { company: id })).toMatch(/--name is needed/)
  expect(await refused(1, "company:delete", { company: id, name: "Globex" })).toMatch(/has another name: Acme/)
  expect(await refused(1, "company:delete", { company: v7(), name: "Acme" })).toMatch(/No company has the id/)
  expect((await run("company:list")).stdout).toContain(id)
  expect((await gql(acme.token, "{ chats { totalCount } }")).errors).toBeUndefined()
})
