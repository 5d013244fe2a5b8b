import pg from "pg"
import { addUpChatCounts } from "../../src/jobs/add-up-chat-counts.js"
import type { SentStatement } from "./company-plans.js"
import type { World } from "./world.js"

/** The database of a world, as its superuser. */
async function asSuperuser<T>({ databaseUrl }: World, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { pathname } = new URL(databaseUrl)
  const client = new pg.Client({ connectionString: Object.assign(new URL(process.env["TEST_SUPERUSER_URL"]!), { pathname }).href })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** Gives a company as many chats as 1,000 companies beside it have together, with messages, files and tags, as a bulk load would. */
export const fillBeside = (world: World, companyId: string, chats: number): Promise<void> =>
  asSuperuser(world, async (client) => {
    const statements = [
      `insert into company (id, created_at, updated_at, name)
       select gen_random_uuid(), now(), now(), 'beside ' || n from generate_series(1, 1000) n`,
      `create temporary table owner as select id, row_number() over (order by name) as place from company where name like 'beside %'
       union all select '${companyId}', 0`,
      `insert into chat_tag (id, created_at, updated_at, company_id, name)
       select gen_random_uuid(), now(), now(), id, 'beside ' || n from owner, generate_series(1, 40) n`,
      `insert into chat_folder (id, created_at, updated_at, company_id, name)
       select gen_random_uuid(), now(), now(), id, 'beside ' || n from owner, generate_series(1, 20) n`,
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, unread_count, last_message_at, last_sequence, folder_id)
       select gen_random_uuid(), at, at, owner.id, (array['olx', 'widget', 'instagram'])[1 + n % 3], 'beside', n::text, 'Customer ' || n, n % 5, at, 15,
         (select id from chat_folder f where f.company_id = owner.id and name = 'beside 1')
       from generate_series(1, ${chats * 2}) n cross join lateral (select now() - n * interval '1 minute' as at) time
         join owner on owner.place = case n % 2 when 0 then 0 else 1 + n / 2 % 1000 end`,
      "set session_replication_role = replica",
      `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, status, external_id)
       select gen_random_uuid(), now(), now(), company_id, id, place, 'Customer', 'Text', 'Hello', 'stored', id || ' ' || place
       from chat, generate_series(1, 15) place where from_id = 'beside'`,
      `update chat set last_message_id = m.id from message m where m.chat_id = chat.id and m.sequence = 15 and chat.from_id = 'beside'`,
      `insert into media (id, created_at, updated_at, company_id, filename, mime_type, size, sha256, storage_key)
       select m.id, now(), now(), m.company_id, 'a.png', 'image/png', 1, 'none', m.id::text from message m where sequence = 15`,
      `insert into message_media (id, company_id, message_id, media_id, position) select id, company_id, id, id, 0 from message where sequence = 15`,
      "set session_replication_role = origin",
      `insert into chat_tagging (chat_id, tag_id, company_id)
       select c.id, t.id, c.company_id from chat c join chat_tag t on t.company_id = c.company_id and t.name in ('beside 1', 'beside 2') where from_id = 'beside'`,
    ]
    for (const statement of statements) await client.query(statement)
    await addUpChatCounts.run(world.services)
    await client.query("vacuum (analyze)")
    // Like a sample in which no company has more tags than others, so that PostgreSQL knows no most common ones.
    await client.query(
      `update pg_statistic set stakind1 = 0, stanumbers1 = null, stavalues1 = null where starelid = 'chat_tag'::regclass and stakind1 = 1
       and staattnum = (select attnum from pg_attribute where attrelid = 'chat_tag'::regclass and attname = 'company_id')`,
    )
  })

interface PlanNode {
  "Node Type": string
  "Actual Rows": number
  "Actual Loops": number
  "Rows Removed by Filter"?: number
  /** From PostgreSQL 18 on. */
  "Index Searches"?: number
  Plans?: PlanNode[]
}

/** Rows that the scans of a plan have read, entries of indexes among them, or their searches of an index if these are more. */
function rowsRead(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0)
  if (!/Scan$/.test(node["Node Type"])) return below
  const rows = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
  return below + Math.max(rows, node["Index Searches"] ?? 0)
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return "null"
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(each)).join()}}`)
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
}

/** How many rows each statement reads, planned for its values, and, where it has a name, planned for any: the plan of a prepared statement may be either. */
export const readsOf = (world: World, statements: SentStatement[]): Promise<{ statement: string; plan: string; rows: number }[]> =>
  asSuperuser(world, async (client) => {
    const reads: { statement: string; plan: string; rows: number }[] = []
    for (const plan of ["force_custom_plan", "force_generic_plan"]) {
      await client.query(`set plan_cache_mode = ${plan}`)
      for (const { name, text, values } of statements) {
        if (!name && plan === "force_generic_plan") continue
        await client.query("begin")
        await client.query(`prepare each as ${text}`)
        const given = values.length > 0 ? `(${values.map(literal).join(", ")})` : ""
        const { rows } = await client.query(`explain (analyze, timing off, format json) execute each${given}`)
        await client.query("rollback")
        await client.query("deallocate each")
        reads.push({ statement: name?.startsWith("read-") ? text : (name ?? text), plan, rows: rowsRead(rows[0]["QUERY PLAN"][0].Plan) })
      }
    }
    return reads
  })
