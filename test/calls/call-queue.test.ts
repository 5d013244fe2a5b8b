import { callLines } from "../../src/jobs/call-lines.js"
import { promised } from "../kit/promise.js"
import { stillTime } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world({ CALL_QUEUE_WAIT_MS: "60000" })
const { acme, globex, rest, sql } = w
const time = stillTime()

beforeAll(() => Promise.all([acme, globex].map((company) => company.subscription("active"))))
beforeEach(async () => {
  await sql("delete from call")
  await acme.voice({ balance: 10, lines: 0 })
})

const accept = async (fields: object = {}, assistant: { id: string } = acme.assistant): Promise<string> =>
  (
    await rest
      .as(acme.token)
      .post(`/api/assistants/${assistant.id}/originate`, { phoneNumber: "+15550099402", ...fields })
      .expect(200)
  ).body.workflowId
const look = async (id: string) => (await rest.as(acme.token).get(`/api/calls-history/${id}`).expect(200)).body
const statusOf = async (id: string) => (await look(id)).status
const sweep = () => callLines.run(w.services)
/** The events about a call, in their order. */
const eventsOf = async (id: string) =>
  (await sql("select type from event where payload #>> '{call,id}' = $1 order by id", [id])).map(({ type }) => type)

it("a call waits without a line, and starts when there is one, the first first", async () => {
  const waiting = [await accept(), await accept(), await accept()]
  await sweep()
  expect(await Promise.all(waiting.map(statusOf))).toEqual(["queued", "queued", "queued"])
  await acme.voice({ lines: 1 })
  await sweep()
  await until("all calls have ended busy", async () => (await Promise.all(waiting.map(statusOf))).every((status) => status === "busy"))
  // The clock stands still: the events have the order.
  const order = await sql("select payload #>> '{call,id}' as id from event where type = 'CALL_ENDED' and company_id = $1 order by id", [
    acme.id,
  ])
  expect(order.map(({ id }) => id)).toEqual(waiting)
})

it("calls that are accepted at once never occupy more lines than there are", async () => {
  await acme.voice({ lines: 2 })
  const ids = await Promise.all(Array.from({ length: 8 }, () => accept()))
  let most = 0
  await until("all calls have ended", async () => {
    const [row] = await sql(
      "select count(*) filter (where status in ('dialing', 'in_progress'))::int as on_line, count(ended_reason)::int as ended from call",
    )
    most = Math.max(most, row.on_line)
    return row.ended === ids.length
  })
  expect(most).toBeLessThanOrEqual(2)
  const [overlap] = await sql(
    `select max(at_once)::int as most from (select count(*) as at_once from call a join call b on b.line_taken_at <= a.line_taken_at and b.ended_at > a.line_taken_at group by a.id) counts`,
  )
  expect(overlap.most ?? 0).toBeLessThanOrEqual(2)
})

promised("a call whose wait is over is not dialed, and never dialed later", async () => {
  const early = await accept()
  time.pass(30_000)
  const late = await accept()
  time.pass(30_000)
  await sweep()
  expect(await look(early)).toMatchObject({ status: "not_dialed", endedReason: "queue_timeout", duration: null })
  expect(await statusOf(late)).toBe("queued")
  expect(await eventsOf(early)).toEqual(["CALL_ENDED"])
  // Its wait is over although no sweep has seen it yet: the line is not for it.
  time.pass(30_000)
  await acme.voice({ lines: 5 })
  const next = await accept()
  expect(await statusOf(late)).toBe("not_dialed")
  expect(await statusOf(early)).toBe("not_dialed")
  await until("the next call has ended busy", async () => (await statusOf(next)) === "busy")
  expect((await sql("select count(dialed_at)::int as dialed from call"))[0].dialed).toBe(1)
})

it.each([
  ["the balance is used up", () => acme.voice({ balance: 0, lines: 1 })],
  ["the subscription has ended", () => acme.subscription(null).then(() => acme.voice({ lines: 1 }))],
])("a call that waits is cancelled when %s", async (_says, change) => {
  const id = await accept()
  await change()
  await sweep()
  expect(await look(id)).toMatchObject({ status: "failed", endedReason: "cancelled" })
  await acme.subscription("active")
})

it("a call that waits is cancelled with its assistant, and its record stays", async () => {
  const assistant = await acme.makeAssistant()
  const id = await accept({}, assistant)
  await rest.as(acme.token).delete(`/api/assistants-new/${assistant.id}`).expect(200)
  await sweep()
  expect(await look(id)).toMatchObject({ status: "failed", endedReason: "cancelled", assistantId: null, callerAssistantId: null })
})

it("a call waits for a voice agent that is being created, and others pass it", async () => {
  const assistant = await acme.makeAssistant({ vaRegistration: { provider: "simulated" } })
  await until(
    "the voice agent is ready",
    async () => (await rest.as(acme.token).get(`/api/assistants-new/${assistant.id}`)).body.voiceAgentStatus === "ready",
  )
  await sql("update assistant set voice_agent_status = 'provisioning' where id = $1", [assistant.id])
  const held = await accept({}, assistant)
  const passing = await accept()
  await acme.voice({ lines: 1 })
  await sweep()
  await until("the call has ended busy", async () => (await statusOf(passing)) === "busy")
  expect(await statusOf(held)).toBe("queued")
  await sql("update assistant set voice_agent_status = 'failed' where id = $1", [assistant.id])
  await sweep()
  expect(await look(held)).toMatchObject({ status: "failed", endedReason: "provider_error" })
})

promised("a connected call tells its events in their order, to the company alone", async () => {
  await acme.voice({ lines: 1 })
  const id = await accept({ phoneNumber: "+15550099404" })
  await until("the call is recorded", async () => (await statusOf(id)) === "transcribed")
  expect(await eventsOf(id)).toEqual(["CALL_STARTED", "CALL_ENDED", "CALL_TRANSCRIBED"])
  const rows = await sql("select company_id from event where payload #>> '{call,id}' = $1", [id])
  expect(new Set(rows.map((row) => row.company_id))).toEqual(new Set([acme.id]))
})
