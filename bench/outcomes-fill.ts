import { randomUUID } from "node:crypto"
import type pg from "pg"
import { tokenOf } from "./fresh-server.js"

/** The data of the benchmark of reports: stretches of one company in a year, and of other companies. */
export const sizes = { stretches: 1_000_000, strangers: 4, stretchesOfStranger: 50_000, people: 12, assistants: 3 }

/** The company whose outcomes are asked for. */
export interface ReportedCompany {
  token: string
  companyId: string
  assistantId: string
  personId: string
}

/** Fills a migrated database: three of ten stretches are handed off, one of ten is rated, times are spread over decades. */
export async function fillStretches(client: pg.Client): Promise<ReportedCompany> {
  const people = Array.from({ length: sizes.people }, () => randomUUID())
  const assistants = Array.from({ length: sizes.assistants }, () => randomUUID())
  const companyId = await company(client)
  await client.query("alter table stretch disable trigger user")
  await stretches(client, companyId, sizes.stretches, people, assistants)
  for (let stranger = 0; stranger < sizes.strangers; stranger++)
    await stretches(client, await company(client), sizes.stretchesOfStranger, people, assistants)
  await client.query("alter table stretch enable trigger user")
  await client.query("vacuum (analyze) stretch")
  return { token: await tokenOf(client, companyId), companyId, assistantId: assistants[0]!, personId: people[0]! }
}

async function company(client: pg.Client): Promise<string> {
  const id = randomUUID()
  await client.query("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Northwind')", [id])
  return id
}

async function stretches(client: pg.Client, companyId: string, count: number, people: string[], assistants: string[]) {
  await client.query("select setseed(0.5)")
  await client.query(
    `insert into stretch (id, created_at, updated_at, company_id, messenger, assistant_id, started_at, ended_at, end_reason, last_message_at,
       check_at, customer_messages, assistant_messages, user_messages, ai_answer_ms, people_answer_ms, is_under_ai, handed_off_at,
       hand_off_reason, person_id, tool_calls, knowledge_searches, input_tokens, output_tokens, rating, reopened)
     select gen_random_uuid(), at, at, $1, (array['telegram', 'whatsapp', 'widget', 'instagram'])[1 + floor(r1 * 4)::integer],
       ($4::uuid[])[1 + floor(r2 * $6)::integer], at, at + interval '25 hours', 'QUIET', at + interval '1 hour', at, 3,
       case when r3 < 0.93 then 3 else 0 end, case when r3 > 0.7 then 2 else 0 end,
       case when r3 < 0.93 then array[(2000 + exp(r4 * 3) * 900)::integer, 5000, 4000] else '{}' end,
       case when r3 > 0.7 then array[(20000 + exp(r5 * 5) * 30000)::integer, 50000] else '{}' end,
       true, case when r3 > 0.68 then at + interval '5 minutes' end,
       case when r3 > 0.68 then (array['assistant', 'person', 'failure'])[1 + floor(r4 * 3)::integer] end,
       case when r3 > 0.7 then ($3::uuid[])[1 + floor(r5 * $5)::integer] end, 2, 1, 1500, 200,
       case when r1 < 0.1 then 1 + floor(r2 * 5)::integer end, r4 < 0.05
     from (
       select now() - i * interval '365 days' / $2::integer as at, random() as r1, random() as r2, random() as r3, random() as r4, random() as r5
       from generate_series(1, $2::integer) i
     ) drawn`,
    [companyId, count, people, assistants, people.length, assistants.length],
  )
}
