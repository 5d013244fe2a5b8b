import pg from "pg"
import { v7 } from "uuid"
import { claimDeliveries, storeStatement } from "../../src/channels/delivery-statements.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, sql } = w

beforeAll(async () => {
  await stopScheduler(w)
  await sql(
    `insert into channel (id, created_at, updated_at, company_id, messenger, external_id, name, is_active)
     values (gen_random_uuid(), now(), now(), $1, 'custom-messenger', 'claims', 'Claims', true)`,
    [acme.id],
  )
})

/** A chat with a queued message. */
async function queued(customer: string) {
  const chat = await acme.chat({ messenger: "custom-messenger", fromId: "claims", externalId: customer })
  const { id: messageId } = await acme.message({ chatId: chat.id, text: "Hello" })
  return { id: chat.id, companyId: acme.id, runId: v7(), messageId }
}

it("a claim of a message that was claimed since its snapshot claims the other chats, and leaves this one to a transaction", async () => {
  const [taken, free] = [await queued("taken"), await queued("free")]
  const other = new pg.Client({ connectionString: w.databaseUrl })
  await other.connect()
  try {
    await other.query("begin")
    await other.query(
      `insert into channel_message (id, created_at, updated_at, company_id, chat_id, message_id, queued_at)
       values (gen_random_uuid(), now(), now(), $1, $2, $3, now())`,
      [acme.id, taken.id, taken.messageId],
    )
    const claiming = claimDeliveries(w.services, [taken, free])
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await until("the claim waits for the row", async () => (await sql(waiting)).length > 0)
    await other.query("commit")
    const { claimed, left } = await claiming
    expect([...claimed].map(([runId, { chatId, messageId }]) => [runId, chatId, messageId])).toEqual([
      [free.runId, free.id, free.messageId],
    ])
    expect([...left]).toEqual([taken.id])
  } finally {
    await other.end()
  }
  const [{ delivery_id, delivery_due_at }] = await sql("select delivery_id, delivery_due_at from chat where id = $1", [taken.id])
  expect([delivery_id, delivery_due_at]).toEqual([null, expect.anything()])
  expect(await sql("select delivery_id from chat where id = $1", [free.id])).toEqual([{ delivery_id: free.runId }])
})

it("storing that a message was sent reads no other queued message, also when PostgreSQL knows of none", async () => {
  const other = await queued("other")
  const insert = `
    insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status)
    select gen_random_uuid(), now(), now(), $1, $2, each, 'User', 'Text', 'Hello', 'claims', $3 from generate_series($4::int, $5::int) each`
  await sql(insert, [acme.id, other.id, "stored", 100, 3_100])
  await sql("update message set status = 'stored' where status = 'queued'")
  await sql("vacuum analyze message")
  const sent = await queued("sent")
  await sql(insert, [acme.id, other.id, "queued", 4_000, 4_500])
  await sql("update chat set delivery_id = $2 where id = $1", [sent.id, sent.runId])
  const { text } = storeStatement(w.services.database.orm)
  const values = [sent.id, `{${acme.id}}`, sent.runId, sent.messageId, "on-the-channel", new Date().toISOString(), v7()]
  const client = new pg.Client({ connectionString: w.databaseUrl })
  await client.connect()
  try {
    await client.query("begin")
    // The plan that PostgreSQL keeps for a statement that runs often.
    await client.query("set local plan_cache_mode = force_generic_plan")
    await client.query(`prepare store as ${text}`)
    const { rows } = await client.query(`explain (analyze, format json) execute store (${values.map((each) => `'${each}'`).join(", ")})`)
    const removed = [...JSON.stringify(rows).matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, count]) => Number(count))
    expect(Math.max(...removed)).toBeLessThan(10)
    await client.query("rollback")
  } finally {
    await client.end()
  }
})
