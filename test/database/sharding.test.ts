import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readWithoutCompany, sentStatements } from "../kit/company-plans.js"
import { companyStories, withoutTheCompany } from "../kit/company-stories.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world({ REPLY_DEBOUNCE_MS: "0" })
const { acme, globex } = w
const document = readFileSync(join(process.cwd(), "docs/decisions/sharding.md"), "utf8")
let ofCompanies: Set<string>

beforeAll(async () => {
  await stopScheduler(w)
  await w.services.running.idle()
  const tables = await w.sql(
    "select table_name from information_schema.columns where column_name = 'company_id' and table_schema = 'public'",
  )
  ofCompanies = new Set(tables.map(({ table_name }) => table_name))
})

it("reads each company's table with the company, unless the document says why not", async () => {
  const statements = await sentStatements(w, () => companyStories(w))
  const names = statements.map(({ name }) => name)
  const hot = ["append-message", "append-from-widget", "open-inbound", "append-answer", "events-replayed"]
  expect(hot.filter((name) => !names.includes(name))).toEqual([])
  const complaints: string[] = []
  for (const statement of statements) {
    const shown = statement.name?.startsWith("read-") ? statement.text.trim() : (statement.name ?? statement.text.trim())
    const tables = await readWithoutCompany(w, statement, ofCompanies)
    if (tables.length > 0 && !Object.values(withoutTheCompany).some((pattern) => pattern.test(shown)))
      complaints.push(`${tables}: ${shown}`)
  }
  expect(complaints).toEqual([])
})

it("the document has a row for each exception, and no other", () => {
  const [, table = ""] = /^## Statements without the company$(.*?)^## /ms.exec(document) ?? []
  const rows = [...table.matchAll(/^\| (.+?) +\|/gm)].map(([, name]) => name!.replaceAll("`", "")).slice(2)
  expect(rows).toEqual(Object.keys(withoutTheCompany))
})

it("the document lists each unique key of a company's table that lacks the company", async () => {
  const keys = await w.sql(
    `select t.relname || '.' || i.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
     where x.indisunique and i.relname <> t.relname || '_pkey' and t.relname = any($1)
       and not exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'company_id' and a.attnum = any(x.indkey))`,
    [[...ofCompanies]],
  )
  const [, list = ""] = /^## Unique keys without the company$(.*?)^## /ms.exec(document) ?? []
  const listed = [...list.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(keys.map(({ name }) => name).toSorted())
})

it.each([
  ["a row by its id", "select * from chat where id = $1", ["chat"]],
  ["a row by its id and its company", "select * from chat where id = $1 and company_id = $2", []],
  [
    "a join by the company",
    "select m.id from message m join chat c on c.id = m.chat_id and c.company_id = m.company_id where c.id = $1 and c.company_id = $2",
    [],
  ],
  [
    "a join by the chat alone",
    "select m.id from message m join chat c on c.id = m.chat_id where c.id = $1 and c.company_id = $2",
    ["message"],
  ],
  [
    "a join of two that nobody limits",
    "select m.id from message m join chat c on c.id = m.chat_id and c.company_id = m.company_id where c.id = $1 or c.id = $2",
    ["message", "chat"],
  ],
  ["a change by the id", "update chat set name = 'Ann' where id in ($1, $2)", ["chat"]],
])("the plan shows whether the company is there: %s", async (_what, text, tables) => {
  const values = text.includes("$2") ? [acme.id, globex.id] : [acme.id]
  expect((await readWithoutCompany(w, { text, values }, ofCompanies)).toSorted()).toEqual(tables.toSorted())
})
