import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readWithoutCompany, sentStatements } from "../kit/company-plans.js"
import { companyStories, withoutTheCompany } from "../kit/company-stories.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

// Citus itself is not on the machines of the tests: its two functions note their tables, and its rules are looked up in the catalogue.
const w = world({ REPLY_DEBOUNCE_MS: "0" })
const { sql } = w
const page = readFileSync(join(process.cwd(), "docs/citus.md"), "utf8")

const noting = `
  create table placed (name text primary key, kind text not null);
  create function create_reference_table(table_name regclass) returns void language sql
    as $$ insert into placed values (table_name::text, 'reference') $$;
  create function create_distributed_table(table_name regclass, distribution_column text) returns void language sql
    as $$ insert into placed values (table_name::text, 'distributed') $$;`

beforeAll(async () => {
  await stopScheduler(w)
  await w.services.running.idle()
  await sql(noting)
  await sql(`begin; ${readFileSync(join(process.cwd(), "deploy/citus.sql"), "utf8")}; commit`)
})

it("every table of companies is distributed or on every machine", async () => {
  const columns = await sql(
    "select table_name from information_schema.columns where column_name = 'company_id' and table_schema = 'public'",
  )
  const placed = await sql("select name from placed where name not in ('company', 'users')")
  expect(placed.map(({ name }) => name).toSorted()).toEqual(columns.map(({ table_name }) => table_name).toSorted())
})

it("each unique key of a distributed table contains the company", async () => {
  const keys = await sql(
    `select x.indexrelid::regclass as name from pg_index x join placed on name = x.indrelid::regclass::text
     where kind = 'distributed' and (x.indisunique or x.indisexclusion) and not exists (
       select from pg_attribute a where a.attrelid = x.indrelid and a.attname = 'company_id' and a.attnum = any(x.indkey))`,
  )
  expect(keys).toEqual([])
})

it("no foreign key leads to another machine", async () => {
  // From a distributed table to one with the same company on both sides, or to a reference table; from a reference table to another one.
  const refused = await sql(
    `select conname from pg_constraint c
       left join placed own on own.name = c.conrelid::regclass::text left join placed other on other.name = c.confrelid::regclass::text
     where contype = 'f' and own.name is not null and not coalesce(other.kind = 'reference' or own.kind = 'distributed' and exists (
       select from unnest(c.conkey, c.confkey) pair (ours, theirs)
         join pg_attribute a on a.attrelid = c.conrelid and a.attnum = ours and a.attname = 'company_id'
         join pg_attribute b on b.attrelid = c.confrelid and b.attnum = theirs and b.attname = 'company_id'), false)
     or contype = 'f' and own.name is null and other.kind = 'distributed'
     -- The company of a row never changes.
     or contype = 'f' and own.kind = 'distributed' and c.confdeltype = 'n' and c.confdelsetcols is null and exists (
       select from pg_attribute a where a.attrelid = c.conrelid and a.attname = 'company_id' and a.attnum = any(c.conkey))`,
  )
  expect(refused).toEqual([])
  const [{ count }] = await sql("select count(*)::int from pg_constraint where contype = 'f'")
  expect(count).toBeGreaterThan(50)
})

it("triggers of distributed tables are for each row", async () => {
  const forStatements = await sql(
    "select tgname from pg_trigger join placed on name = tgrelid::regclass::text where kind = 'distributed' and not tgisinternal and tgtype & 1 = 0",
  )
  expect(forStatements).toEqual([])
})

it("a server works with these keys, and the page lists the statements that lock rows on several machines", async () => {
  const statements = await sentStatements(w, () => companyStories(w))
  const distributed = new Set((await sql("select name from placed where kind = 'distributed'")).map(({ name }) => name))
  const refused = new Set<string>()
  for (const statement of statements) {
    if (!/\bfor (?:no key update|update|key share|share)\b/.test(statement.text)) continue
    if ((await readWithoutCompany(w, statement, distributed)).length === 0) continue
    const shown = statement.name ?? statement.text.trim()
    refused.add(Object.entries(withoutTheCompany).find(([, pattern]) => pattern.test(shown))?.[0] ?? shown)
  }
  const [, list = ""] = /^## What is not ready$(.*?)^## /ms.exec(page) ?? []
  expect([...list.matchAll(/^ {2}- `(.+?)`/gm)].map(([, name]) => name).toSorted()).toEqual([...refused].toSorted())
  const sums = await sql("select (select sum(bytes) from media_tally)::int as bytes, (select sum(size) from media)::int as stored")
  expect(sums).toEqual([{ bytes: sums[0].stored, stored: expect.any(Number) }])
})
