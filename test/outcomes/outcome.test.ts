import fc from "fast-check"
import papa from "papaparse"
import { keepOutcomes } from "../../src/jobs/keep-outcomes.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { askForSums } from "../../src/outcomes/keep.js"
import type { GroupBy } from "../../src/schema/outcome.js"
import { createCompany } from "../kit/company-fixture.js"
import { openTransaction } from "../kit/transaction.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"
import { plainGroups, plainNumbers, type ShownStretch } from "./plain-outcomes.js"

const w = world()
const { acme, globex, rest, gql, sql } = w
const day = 24 * 60 * 60 * 1_000
const now = Date.now()
let people: string[]
let assistants: string[]

const numbers = `stretches aiAlone aiThenPerson personAlone unanswered reopened handedOff containment durableContainment handOffRate
  firstAnswerMs { ai { p50 p95 } people { p50 p95 } } ratings rating inputTokens outputTokens`
const query = `query ($from: DateTime, $to: DateTime, $by: OutcomeGroupBy, $filter: String, $timeZone: String, $companyId: UUID) {
  outcomes(from: $from, to: $to, by: $by, filter: $filter, timeZone: $timeZone, companyId: $companyId) {
    before timeZone total { current { ${numbers} } before { ${numbers} } }
    groups { key name from to current { ${numbers} } before { ${numbers} } } } }`

/** Random stretches of 100 days, some of them open. */
beforeAll(async () => {
  await stopScheduler(w)
  people = [acme.owner.id, acme.member.id]
  assistants = [acme.assistant.id, (await acme.makeAssistant({ name: "Bert" })).id]
  await sql(
    `insert into stretch (id, created_at, updated_at, company_id, messenger, assistant_id, started_at, ended_at, end_reason, last_message_at, check_at,
       customer_messages, assistant_messages, user_messages, ai_answer_ms, people_answer_ms, is_under_ai, handed_off_at, hand_off_reason, person_id,
       input_tokens, output_tokens, rating, reopened)
     select gen_random_uuid(), at, at, $1::uuid, (array['telegram', 'widget'])[1 + i % 2], ($2::uuid[])[1 + (i / 3) % 2], at,
       case when i % 17 > 0 then at + interval '25 hours' end, case when i % 17 > 0 then 'QUIET' end, at, at, 1,
       case when i % 5 > 0 then 2 else 0 end, case when i % 4 = 0 then 1 else 0 end,
       case when i % 5 > 0 then array[100 + (i * 7919) % 20000] else '{}' end, case when i % 4 = 0 then array[1000 + (i * 104729) % 900000] else '{}' end,
       true, case when i % 3 = 0 then at end, case when i % 3 = 0 then (array['assistant', 'person', 'failure'])[1 + (i / 3) % 3] end,
       case when i % 4 = 0 then ($3::uuid[])[1 + (i / 4) % 2] end, i % 1000, i % 90, case when i % 6 = 0 then 1 + (i / 6) % 5 end,
       i % 5 > 0 and i % 4 > 0 and i % 7 = 0 and i % 17 > 0
     from generate_series(1, 2000) i, lateral (select $4::timestamptz - i * interval '72 minutes' - (i * 31) % 60 * interval '1 second' as at) times`,
    [acme.id, assistants, people, new Date(now)],
  )
})

async function report(variables: Record<string, unknown>) {
  const { data, errors } = await gql(acme.token, query, variables)
  expect(errors).toBeUndefined()
  return data.outcomes
}

/** All rows behind a report, by the list. */
async function rowsOf(from: Date, to: Date, filter: string): Promise<ShownStretch[]> {
  const all: ShownStretch[] = []
  for (let cursor = ""; ; ) {
    const period = `from=${from.toISOString()}&to=${to.toISOString()}`
    const path = `/api/stretches?take=100&withCount=false&${period}&filter=${encodeURIComponent(filter)}&cursor=${cursor}`
    const { body } = await rest.as(acme.token).get(path).expect(200)
    all.push(...body.data)
    if (!body.nextCursor) return all
    cursor = body.nextCursor
  }
}

const groupBys: GroupBy[] = ["DAY", "WEEK", "ASSISTANT", "MESSENGER", "PERSON", "HANDOFF_REASON"]
const asked = fc.record({
  by: fc.constantFrom(...groupBys),
  timeZone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"),
  start: fc.integer({ min: 1, max: 98 * 24 }),
  hours: fc.integer({ min: 1, max: 70 * 24 }),
  filter: fc.constantFrom(
    ...["isEnded:eq:true", "messenger:eq:telegram", "outcome:in:AI_ALONE,PERSON_ALONE", "handOffReason:eq:assistant", "personId:eq:null"],
    ...["isHandedOff:eq:true;reopened:eq:false", "rating:gte:3", "reopened:eq:true", "isEnded:eq:false"],
    "messenger:eq:widget;outcome:eq:AI_ALONE",
  ),
})
interface Asked {
  by: GroupBy
  timeZone: string
  start: number
  hours: number
  filter: string
}

/** Compares a report with the sums over its rows; whether its times are rounded depends on kept sums. */
async function agree({ by, timeZone, start, hours, filter }: Asked, isRounded: boolean) {
  const from = new Date(now - start * 60 * 60_000)
  const to = new Date(Math.min(now + 1, from.getTime() + hours * 60 * 60_000))
  const shown = await report({ by, timeZone, from, to, filter })
  const rows = await rowsOf(from, to, filter)
  const isExact = !isRounded || filter.includes("rating")
  const unrounded = ({ firstAnswerMs: _times, ...rest }: ReturnType<typeof plainNumbers>) => rest
  // A period without a whole day uses no kept sums, so that its times are exact.
  const shape = isRounded ? unrounded : (each: ReturnType<typeof plainNumbers>) => each
  expect(shape(shown.total.current)).toEqual(shape(plainNumbers(rows, !isExact)))
  const before = await rowsOf(new Date(shown.before), from, filter)
  expect(shape(shown.total.before)).toEqual(shape(plainNumbers(before, !isExact)))
  const expected = plainGroups(rows, by, timeZone, !isExact)
  for (const { key, current } of shown.groups)
    expect([key, shape(current)]).toEqual([key, shape(expected.get(key) ?? plainNumbers([], false))])
  for (const key of expected.keys()) expect(shown.groups.map((group: { key: string }) => group.key)).toContain(key)
}

it("a report is the sum over its rows, for any period, group, time zone and condition", async () => {
  await fc.assert(
    fc.asyncProperty(asked, (given) => agree(given, false)),
    { numRuns: 40 },
  )
})

describe("with kept sums", () => {
  beforeAll(async () => {
    for (const timeZone of ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"]) await askForSums(w.services, acme.id, timeZone)
    await keepOutcomes.run(w.services)
    const [{ days }] = await sql("select count(*)::integer as days from outcome_day")
    expect(days).toBeGreaterThan(4 * 90)
    const [{ months }] = await sql("select count(*)::integer as months from outcome_month")
    expect(months).toBeGreaterThanOrEqual(4 * 2)
  })

  it("a report is the sum over its rows too", async () => {
    await fc.assert(
      fc.asyncProperty(asked, (given) => agree(given, true)),
      { numRuns: 40 },
    )
  })

  const conditions = ["isEnded:eq:true", "messenger:eq:telegram", "outcome:eq:AI_ALONE", "isHandedOff:eq:true", "personId:eq:null"]

  it.each(groupBys)("percentiles are those of the rows, rounded, by %s", async (by) => {
    // From midnight to midnight: only days and months are read whose sums are kept.
    const to = new Date(Math.floor(now / day) * day - 7 * day)
    const period = { from: new Date(to.getTime() - 80 * day), to, timeZone: "UTC" }
    for (const filter of [...conditions, `assistantId:eq:${assistants[0]}`, `reopened:eq:false;messenger:eq:widget`]) {
      const shown = await report({ ...period, by, filter })
      const rows = await rowsOf(period.from, period.to, filter)
      expect(shown.total.current).toEqual(plainNumbers(rows, true))
      const expected = plainGroups(rows, by, period.timeZone, true)
      for (const [key, numbers] of expected)
        expect([key, shown.groups.find((group: { key: string }) => group.key === key)?.current]).toEqual([key, numbers])
    }
  })

  it("days that the version before kept, without sums by one dimension, are read one by one and kept again", async () => {
    const isKept = () => sql("select has_dimensions from outcome_day order by has_dimensions limit 1")
    await sql("update outcome_day set has_dimensions = false")
    await sql("delete from outcome_dimension_sum")
    await sql("delete from outcome_dimension_time")
    await sql("delete from outcome_month")
    const given = { by: "PERSON" as const, timeZone: "UTC", start: 90 * 24, hours: 80 * 24, filter: "isEnded:eq:true" }
    await agree(given, true)
    await keepOutcomes.run(w.services)
    expect(await isKept()).toEqual([{ has_dimensions: true }])
    await agree(given, true)
  })

  it.each([
    ["the customer writes again", "update stretch set reopened = not reopened where id = $1"],
    ["the customer rates", "update stretch set rating = 4 where id = $1"],
    ["a turn reports its tokens late", "update stretch set input_tokens = input_tokens + 7 where id = $1"],
    ["a stretch is made again", "delete from stretch where id = $1"],
  ])("a change of a day is in the next report: %s", async (_what, change) => {
    const [stretch] = await sql(
      "select id, started_at from stretch where company_id = $1 and outcome = 'AI_ALONE' and started_at < $2 order by started_at desc limit 1",
      [acme.id, new Date(now - 45 * day)],
    )
    const kept = (span: "day" | "month") => sql(`select time_zone, day::text from outcome_${span} order by time_zone, day`)
    const [days, months] = [await kept("day"), await kept("month")]
    await sql(change, [stretch.id])
    expect((await kept("day")).length).toBe(days.length - 4)
    expect((await kept("month")).length).toBe(months.length - 4)
    const agreed = async () => {
      const period = { start: 95 * 24, hours: 95 * 24, timeZone: "UTC" }
      for (const filter of ["isEnded:eq:true", "messenger:eq:widget"])
        for (const by of groupBys) await agree({ ...period, by, filter }, true)
    }
    await agreed()
    await keepOutcomes.run(w.services)
    expect([await kept("day"), await kept("month")]).toEqual([days, months])
    await agreed()
  })

  it("no sum is kept without a change that is under way", async () => {
    const [stretch] = await sql("select id from stretch where company_id = $1 and started_at < $2 and outcome is not null limit 1", [
      acme.id,
      new Date(now - 20 * day),
    ])
    const kept = () => sql("select count(*)::integer as days from outcome_day")
    const before = await kept()
    await sql("delete from outcome_day where time_zone = 'UTC'")
    {
      await using change = await openTransaction(w.databaseUrl)
      await change.query("update stretch set input_tokens = input_tokens + 1000 where id = $1", [stretch.id])
      const keeping = keepOutcomes.run(w.services)
      const waiting = "select from pg_locks where locktype = 'advisory' and not granted"
      await until("the sums wait for the change", async () => (await sql(waiting)).length > 0)
      await change.commit()
      await keeping
    }
    await keepOutcomes.run(w.services)
    expect(await kept()).toEqual(before)
    await agree({ by: "DAY", timeZone: "UTC", start: 38 * 24, hours: 38 * 24, filter: "isEnded:eq:true" }, true)
  })

  it("a month is not kept without a change of one of its days that is under way", async () => {
    const [{ day: month }] = await sql("select day::text from outcome_month where time_zone = 'UTC' order by day limit 1")
    const [stretch] = await sql(
      "select id from stretch where company_id = $1 and started_at >= $2::date + 3 and outcome is not null order by started_at limit 1",
      [acme.id, month],
    )
    const kept = () => sql("select time_zone from outcome_month where day = $1 order by time_zone", [month])
    const before = await kept()
    await sql("delete from outcome_month")
    {
      await using change = await openTransaction(w.databaseUrl)
      await change.query("update stretch set input_tokens = input_tokens + 1000 where id = $1", [stretch.id])
      await keepOutcomes.run(w.services)
      expect(await kept()).toEqual([])
      await change.commit()
    }
    const given = { by: "PERSON" as const, timeZone: "UTC", start: 95 * 24, hours: 95 * 24, filter: "messenger:eq:widget" }
    await agree(given, true)
    await keepOutcomes.run(w.services)
    expect(await kept()).toEqual(before)
    await agree(given, true)
  })

  it("a day that changes while its month is being kept deletes the month afterwards", async () => {
    const [{ day: month }] = await sql("select day::text from outcome_month where time_zone = 'UTC' order by day limit 1")
    const [stretch] = await sql(
      "select id from stretch where company_id = $1 and started_at >= $2::date + 4 and messenger = 'widget' and outcome is not null order by started_at limit 1",
      [acme.id, month],
    )
    const waiting = async (count: number) =>
      (await sql("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).length >= count
    await sql("delete from outcome_month")
    {
      // Stops the sweep after it has marked the month and before it has its sums.
      await using holder = await openTransaction(w.databaseUrl)
      await holder.query("select from outcome_month_sum where time_zone = 'UTC' and day = $1 for update", [month])
      const keeping = keepOutcomes.run(w.services)
      await until("the sweep waits", () => waiting(1))
      const change = sql("update stretch set input_tokens = input_tokens + 1000 where id = $1", [stretch.id])
      await until("the change waits for the sweep", () => waiting(2))
      await holder.commit()
      await Promise.all([keeping, change])
    }
    const given = { by: "PERSON" as const, timeZone: "UTC", start: 95 * 24, hours: 95 * 24, filter: "messenger:eq:widget" }
    await agree(given, true)
    await keepOutcomes.run(w.services)
    await agree(given, true)
  })

  it("a run whose time is over leaves the rest to the next one, and reports are right in between", async () => {
    const kept = () => sql("select time_zone, day::text from outcome_day order by time_zone, day")
    const before = await kept()
    await sql("delete from outcome_day")
    const short = jest.replaceProperty(jobLimits, "sweepWorkMs", 1 as never)
    await keepOutcomes.run(w.services)
    short.restore()
    expect((await kept()).length).toBeLessThan(before.length)
    const given = { by: "DAY" as const, timeZone: "UTC", start: 95 * 24, hours: 95 * 24, filter: "isEnded:eq:true" }
    await agree(given, true)
    await keepOutcomes.run(w.services)
    expect(await kept()).toEqual(before)
    await agree(given, true)
  })

  it("sums that no report asks for are deleted after 60 days", async () => {
    await sql("update outcome_zone set asked_at = now() - interval '61 days' where time_zone = 'Asia/Kolkata'")
    await keepOutcomes.run(w.services)
    for (const table of ["zone", "day", "month", "sum", "month_sum", "time", "dimension_sum", "dimension_time"].map(
      (each) => `outcome_${each}`,
    ))
      expect(await sql(`select 1 from ${table} where time_zone = 'Asia/Kolkata'`)).toEqual([])
  })
})

it("a report that reads very many stretches has their sums kept from then on", async () => {
  const busy = await createCompany(w.services, "Initech")
  await sql(
    `insert into stretch (id, created_at, updated_at, company_id, messenger, started_at, ended_at, last_message_at, check_at, is_under_ai)
     select gen_random_uuid(), at, at, $1, 'widget', at, at, at, at, false from generate_series(1, 20001) i, lateral (select $2::timestamptz - i * interval '1 minute' as at) times`,
    [busy.id, new Date(now - 6 * day)],
  )
  const period = `from=${new Date(now - 27 * day).toISOString()}&timeZone=Europe/Kyiv`
  const total = async () => (await rest.as(busy.token).get(`/api/outcomes?${period}`).expect(200)).body.total.current.stretches
  // Several at once, as a page with several charts asks.
  expect(await Promise.all([total(), total(), total()])).toEqual([20_001, 20_001, 20_001])
  await w.services.running.idle()
  expect(await sql("select time_zone from outcome_zone where company_id = $1", [busy.id])).toEqual([{ time_zone: "Europe/Kyiv" }])
  expect(w.logged.filter(({ msg }) => msg === "background work failed")).toEqual([])
  await keepOutcomes.run(w.services)
  expect((await sql("select 1 from outcome_sum where company_id = $1", [busy.id])).length).toBeGreaterThan(0)
  expect(await total()).toBe(20_001)
})

it("compares days with the day at the same place before, also when the clocks change", async () => {
  const shown = await report({ from: "2026-10-19T22:00:00Z", to: "2026-10-26T23:00:00Z", timeZone: "Europe/Berlin" })
  expect(shown.before).toBe("2026-10-12T22:00:00.000Z")
  expect(shown.groups).toHaveLength(7)
  expect(shown.groups.map(({ key }: { key: string }) => key).slice(4)).toEqual(["2026-10-24", "2026-10-25", "2026-10-26"])
  expect(shown.groups[5]).toMatchObject({ from: "2026-10-24T22:00:00.000Z", to: "2026-10-25T23:00:00.000Z" })
})

it("names assistants and people, and has all groups of either period", async () => {
  const groups = async (by: string) => (await report({ by, from: new Date(now - 10 * day), to: new Date(now) })).groups
  expect((await groups("ASSISTANT")).map(({ name }: { name: string }) => name).sort()).toEqual(["Acme's assistant", "Bert"])
  const named = await groups("PERSON")
  expect(named.map(({ name }: { name: string | null }) => name).sort()).toEqual([acme.member.name, acme.owner.name, null].sort())
})

it("has four weeks by default, and nothing of another company", async () => {
  const { body } = await rest.as(globex.token).get("/api/outcomes?timeZone=Asia/Tokyo").expect(200)
  expect(body.groups).toHaveLength(28)
  expect(body.total.current).toMatchObject({ stretches: 0, containment: null, rating: null, inputTokens: 0 })
  await rest.as(globex.token).get(`/api/outcomes?companyId=${acme.id}`).expect(403)
})

describe("as CSV", () => {
  const csv = (path: string) =>
    rest
      .as(acme.token)
      .ask("get", path)
      .set("accept", "text/csv")
      .expect("content-type", "text/csv; charset=utf-8")
      .expect("vary", /Accept/)
      .expect(200)

  it("a report has a line for each group", async () => {
    const period = `from=${new Date(now - 9 * day).toISOString()}&to=${new Date(now).toISOString()}`
    const { text, headers } = await csv(`/api/outcomes?by=MESSENGER&${period}`)
    expect(headers["content-disposition"]).toBe('attachment; filename="outcomes.csv"')
    const { data } = papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    const { body } = await rest.as(acme.token).get(`/api/outcomes?by=MESSENGER&${period}`).expect(200)
    expect(data.map((line) => [line["key"], Number(line["current.stretches"]), Number(line["before.firstAnswerMs.ai.p95"])])).toEqual(
      body.groups.map((group: { key: string; current: { stretches: number }; before: { firstAnswerMs: { ai: { p95: number } } } }) => [
        group.key,
        group.current.stretches,
        group.before.firstAnswerMs.ai.p95,
      ]),
    )
  })

  it("the list has all rows, and no formula that a customer wrote", async () => {
    const [{ id }] = await sql("select id from stretch where company_id = $1 order by started_at desc, id desc limit 1", [acme.id])
    await sql(`update stretch set rating_text = '=HYPERLINK("https://evil.example"), "he said"' where id = $1`, [id])
    const { text } = await csv("/api/stretches?take=5&cursor=nonsense")
    const { data } = papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    const [{ count }] = await sql("select count(*)::integer as count from stretch where company_id = $1", [acme.id])
    expect(new Set(data.map((line) => line["id"])).size).toBe(count)
    expect(data[0]).toMatchObject({ id, ratingText: `'=HYPERLINK("https://evil.example"), "he said"`, "messages.customer": "1" })
  })
})

it.each([
  ["timeZone=Nowhere/City", "timeZone"],
  ["timeZone=%2B02:00", "timeZone"],
  ["from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to"],
  ["from=2020-01-02T00:00:00Z", "to"],
  ["from=0000-01-01T00:00:00Z", "from"],
  ["from=0001-01-01T00:00:00Z&to=0002-01-01T00:00:00Z", "from"],
  ["by=MONTH", "by"],
  ["filter=outcome:eq:NONE", "filter"],
])("refuses %s", async (parameters, path) => {
  const { body } = await rest.as(acme.token).get(`/api/outcomes?${parameters}`).expect(400)
  expect(body.details[0].path).toBe(path)
})
