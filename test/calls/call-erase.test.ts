import { readFileSync } from "node:fs"
import { join } from "node:path"
import { clock } from "../../src/entities/kit/clock.js"
import { retention } from "../../src/jobs/retention.js"
import { administration } from "../kit/command-line.js"
import { folderOfItsOwn } from "../kit/files.js"
import { receiver } from "../kit/receiver.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const integrator = await receiver()
afterAll(() => integrator.close())
const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder, RECORDING_RETENTION_DAYS: "30" })
const { acme, rest, sql } = w
const { done } = administration(w)

/** A call to a number, with a postcall tool, until its record is complete. */
async function called(phoneNumber: string): Promise<string> {
  const body = { phoneNumber, dynamicVariables: { simulate: "hang_up", note: `about ${phoneNumber}` } }
  const path = `/api/assistants/${acme.assistant.id}/originate`
  const { body: answer } = await rest.as(acme.token).post(path, body).set("Idempotency-Key", phoneNumber).expect(200)
  await until(
    "the call is reported",
    async () => (await sql("select 1 from call where id = $1 and reported_at is not null", [answer.workflowId])).length > 0,
  )
  return answer.workflowId
}
const recordings = () => sql("select id from media")
/** Rows of all tables of the company that have the text somewhere. */
async function traces(text: string): Promise<string[]> {
  const tables = await sql("select distinct table_name from information_schema.columns where table_schema = 'public'")
  const found: string[] = []
  for (const { table_name } of tables)
    if ((await sql(`select 1 from "${table_name}" t where t::text like $1 limit 1`, [`%${text}%`])).length > 0) found.push(table_name)
  return found.sort()
}

let erased: string
let kept: string
beforeAll(async () => {
  await acme.subscription("active")
  await acme.voice({ balance: 10, lines: 2 })
  await rest.as(acme.token).patch(`/api/assistants-new/${acme.assistant.id}`, { greeting: "Hello, {{note}}." }).expect(200)
  await acme.tool({ type: "webhook_postcall", apiCallUrl: integrator.url })
  ;[erased, kept] = (await Promise.all(["+15550001", "+15550002"].map((number) => called(`${number}234`)))) as [string, string]
})

it("a customer's export has the calls to the number, with their recordings", async () => {
  const file = join(folder, "customer.jsonl")
  await done("customer:export", { company: acme.id, customer: "+1 555 0001 234", file })
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  const kinds = lines.map(({ kind }) => kind)
  expect(kinds).toEqual(["Export", "Call", "ToolCall", "ToolCall", "Media", "End"])
  expect(lines[1].record).toMatchObject({ id: erased, replies: [{ role: "agent", text: "Hello, about +15550001234." }] })
  expect(readFileSync(join(folder, lines[1].record.recordingUrl)).subarray(0, 4).toString()).toBe("RIFF")
})

it("an erasure leaves nothing of the calls to the number, and keeps the others", async () => {
  expect(await traces("15550001234")).not.toEqual([])
  const receipt = await done("customer:erase", { company: acme.id, customer: "+15550001234" })
  expect(receipt.records).toMatchObject({ Call: 1, ToolCall: 2, Media: 1 })
  expect(await traces("15550001234")).toEqual([])
  await rest.as(acme.token).get(`/api/calls-history/${erased}`).expect(404)
  expect(await recordings()).toHaveLength(1)
  expect((await rest.as(acme.token).get(`/api/calls-history/${kept}`).expect(200)).body.recordingUrl).toContain("/media/")
})

it("a recording is deleted after its time, and the call keeps the rest of its record", async () => {
  clock.advance(31 * 24 * 60 * 60_000)
  await retention.run(w.services)
  const [row] = await sql("select recording_id, transcript from call where id = $1", [kept])
  expect(row).toMatchObject({ recording_id: null, transcript: "Agent: Hello, about +15550002234." })
  expect(await recordings()).toEqual([])
})
