import { sentStatements } from "../kit/company-plans.js"
import { webhookStories } from "../kit/event-webhooks.js"

const { w, endpoint, hooks } = await webhookStories()
const { acme, sql } = w

/** The plan of the statement, among those that are sent during a call, whose text has these words. */
async function planOf(words: string, work: () => Promise<unknown>): Promise<string> {
  const { text, values } = (await sentStatements(w, work)).find((each) => each.text.includes(words))!
  return (await sql(`explain ${text}`, values)).map((row) => row["QUERY PLAN"]).join("\n")
}

it("deliveries are made from where the log was read to, and not from its beginning", async () => {
  await sql(
    `insert into event (position, company_id, type, payload, created_at)
     select position, $1, 'CHANNEL_UPDATED', '{}', now() from generate_series(-50000, -1) position`,
    [acme.id],
  )
  await sql("analyze event")
  await hooks.create(endpoint)
  const chat = await acme.chat()
  const plan = await planOf("insert into event_delivery", async () => {
    await acme.message({ chatId: chat.id })
    await hooks.fannedOut()
  })
  expect(plan).toMatch(/Index Scan using event_position on event\b.*\n\s+Index Cond: \("position" > /)
})

it("the next delivery of an endpoint is found without reading those that wait behind it", async () => {
  const made = await hooks.create(endpoint)
  const chat = await acme.chat()
  await acme.message({ chatId: chat.id })
  await hooks.fannedOut()
  // Like an endpoint that has been away for hours.
  await sql(
    `insert into event_delivery
     select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'event_id', -n, 'due_at', now() + n * interval '1 hour'))).*
     from event_delivery d, generate_series(1, 50000) n where d.webhook_id = $1`,
    [made.id],
  )
  await sql("analyze event_delivery")
  const plan = await planOf("as due_ms from", () => hooks.send())
  expect(plan).toMatch(/Limit[\s\S]*Index Scan using event_delivery_due on event_delivery/)
  expect(plan).not.toMatch(/Sort|Aggregate/)
})
