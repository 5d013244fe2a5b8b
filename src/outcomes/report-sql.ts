import { sql } from "kysely"
import type { Narrow, Query, ReadModel } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import type { EntityName } from "../database/tables.js"
import { stretchOutcomes } from "../entities/kit/stretch-words.js"
import { type GroupBy, outcomeDayReadModel, outcomeMonthReadModel } from "../schema/outcome.js"
import { stretchReadModel } from "../schema/stretch.js"
import { groupColumns, keptQueries } from "./kept-rows.js"
import { outcomeLimits } from "./limits.js"

/** What a report is about. */
export interface Asked {
  companyId: string
  /** Begin of the period before, which ends at `from`. */
  before: Date
  from: Date
  to: Date
  timeZone: string
  by: GroupBy
  /** Conditions, on columns that `stretch` and the kept sums share where `usesSums`. */
  matching: Narrow<EntityName>
  /** The fields that the conditions are on. */
  fields: string[]
  /** Whether kept sums may be used: not with a condition on a column that they lack. */
  usesSums: boolean
}

/** The sums of a group in a period; of the whole period where `is_total` is 1. */
export interface SumsRow {
  /** Whether the period is that of the report; otherwise it is the one before. */
  is_current: boolean
  is_total: number
  group: string | null
  stretches: string
  ai_alone: string
  ai_then_person: string
  person_alone: string
  unanswered: string
  reopened: string
  handed_off: string
  input_tokens: string
  output_tokens: string
  rating: string
  ratings: string
  ai_p50: number | null
  ai_p95: number | null
  people_p50: number | null
  people_p95: number | null
  /** Number of stretches that were read one by one. */
  read: string
  uses_sums: boolean
}

/** Columns of the sums of a group, over rows that have one stretch or the sums of many. */
const sumsOfCells = sql`coalesce(sum(count), 0) as stretches,
        ${sql.join(
          stretchOutcomes.map(
            (outcome) => sql`coalesce(sum(count) filter (where outcome = ${outcome}), 0) as ${sql.ref(outcome.toLowerCase())}`,
          ),
        )},
        coalesce(sum(count) filter (where reopened), 0) as reopened, coalesce(sum(count) filter (where hand_off_reason is not null), 0) as handed_off,
        coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(rating), 0) as rating, coalesce(sum(ratings), 0) as ratings, coalesce(sum(read), 0) as read`

const sumColumns = [
  ...["stretches", ...stretchOutcomes.map((outcome) => outcome.toLowerCase()), "reopened", "handed_off"],
  ...["input_tokens", "output_tokens", "rating", "ratings", "read"],
]

const sumsOfGroups = sql.join(sumColumns.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`))

/**
 * One statement for a period and the one before: days and months whose sums are kept (`kept`) are read from them, the time between (`gap`) from
 * stretches, one by one. With kept sums all times of a period are rounded, without them they are exact.
 */
export function reportSql(reader: Reader, asked: Asked) {
  const { p50, p95 } = outcomeLimits.percentiles
  const [before, from, to] = [asked.before, asked.from, asked.to].map((at) => sql`${at.toISOString()}::timestamptz`)
  const { inGap, keptSums, keptTimes, days, months } = rowsOf(reader, asked)
  const percentileOf = (name: string, isOfPerson: boolean) => sql`left join percentile ${sql.ref(name)}
      on ${sql.ref(`${name}.is_current`)} = counted.is_current and ${sql.ref(`${name}.is_total`)} = counted.is_total
        and ${sql.ref(`${name}.key`)} = coalesce(counted."group", '') collate "C" and ${sql.ref(`${name}.is_of_person`)} = ${sql.lit(isOfPerson)}`
  const answersOf = (isOfPerson: boolean) => {
    const ms = sql.ref(isOfPerson ? "people_ms" : "ai_ms")
    return sql`select is_current, "group", ${sql.lit(isOfPerson)} as is_of_person, case when is_exact then ${ms} else rounded_ms(${ms}) end as ms, 1 as count
        from read_one join exactness using (is_current) where ${ms} is not null`
  }
  return sql<SumsRow>`
    with period (is_current, from_at, to_at) as (values (false, ${before}, ${from}), (true, ${from}, ${to})),
    kept_month as materialized (
      select is_current, day, found.from_at, found.to_at from period join (${months}) found on found.from_at >= period.from_at and found.to_at <= period.to_at
    ), kept_day as materialized (
      select is_current, day, found.from_at, found.to_at from period join (${days}) found on found.from_at >= period.from_at and found.to_at <= period.to_at
      where not exists (select from kept_month month where found.from_at >= month.from_at and found.to_at <= month.to_at)
    ), kept as materialized (
      select * from kept_month union all select * from kept_day
    ), exactness as (
      select is_current, not exists (select from kept where kept.is_current = period.is_current) as is_exact from period
    ), edge as (
      select is_current, from_at, to_at from kept union all select is_current, at, at from period cross join lateral (values (from_at), (to_at)) bounds (at)
    ), gap as materialized (
      select * from (
        select is_current, to_at as from_at, lead(from_at) over (partition by is_current order by from_at, to_at) as to_at from edge
      ) between_kept where from_at < to_at
    ), read_one as materialized (
      select is_current, found.* from gap cross join lateral ${inGap} found
    ), kept_cell as materialized (
      ${keptSums}
    ), cell as not materialized (
      select is_current, "group", outcome, reopened, hand_off_reason, 1 as count, 1 as read, input_tokens::bigint, output_tokens::bigint,
        coalesce(rating, 0)::integer as rating, (rating is not null)::integer as ratings
      from read_one union all select is_current, "group", outcome, reopened, hand_off_reason, count, 0, input_tokens, output_tokens, rating, ratings
      from kept_cell
    ), counted_group as materialized (
      select is_current, "group", ${sumsOfCells} from cell group by is_current, "group"
    ), counted as (
      select is_current, 0 as is_total, "group"::text as "group", ${sql.join(sumColumns.map((name) => sql.ref(name)))} from counted_group
      union all select is_current, 1, null, ${sumsOfGroups} from period left join counted_group using (is_current) group by is_current
    ), answer_time as not materialized (
      ${answersOf(false)} union all ${answersOf(true)} union all ${keptTimes}
    ), same_time as materialized (
      select is_current, "group", is_of_person, ms, sum(count)::integer as count from answer_time group by is_current, "group", is_of_person, ms
    ), each_time as (
      select is_current, 0 as is_total, coalesce("group"::text, '') collate "C" as key, is_of_person, ms, count from same_time
      union all select is_current, 1, '', is_of_person, ms, sum(count)::integer from same_time group by is_current, is_of_person, ms
    ), ranked as (
      select *, sum(count) over (of_group order by ms) as upto, sum(count) over of_group as all_of_them
      from each_time window of_group as (partition by is_current, is_total, key, is_of_person)
    ), percentile as materialized (
      select is_current, is_total, key, is_of_person, min(ms) filter (where upto * 100 >= all_of_them * ${p50}::integer) as p50,
        min(ms) filter (where upto * 100 >= all_of_them * ${p95}::integer) as p95
      from ranked group by is_current, is_total, key, is_of_person
    )
    select counted.*, ai.p50 as ai_p50, ai.p95 as ai_p95, people.p50 as people_p50, people.p95 as people_p95,
      exists (select from exactness where not is_exact) as uses_sums
    from counted ${percentileOf("ai", false)} ${percentileOf("people", true)}`
}

/** The rows of a report: days and months whose sums are kept, their sums and times, and the stretches of a `gap` between them. */
function rowsOf(reader: Reader, { companyId, by, timeZone, before, from, to, matching, fields, usesSums }: Asked) {
  const filtered = <N extends EntityName, O>(query: Query<N, O>) => (matching as Narrow<N>)(query)
  const { ofStretch, ofSum } = groupColumns[by](timeZone)
  const dayOf = (at: Date) => sql`(${at.toISOString()}::timestamptz at time zone ${timeZone})::date`
  const inGap = filtered(reader.scoped(stretchReadModel, [companyId]))
    .where(sql<boolean>`t.started_at >= gap.from_at and t.started_at < gap.to_at and t.ended_at is not null`)
    .select([
      ofStretch.as("group"),
      ...(["t.outcome", "t.reopened", "t.hand_off_reason", "t.input_tokens", "t.output_tokens", "t.rating"] as const),
    ])
    .select([sql`t.ai_answer_ms[1]`.as("ai_ms"), sql`t.people_answer_ms[1]`.as("people_ms")])
    // Keeps the planner from joining all stretches with the gaps, of which it expects many.
    .offset(0)
  const ofSpans = <N extends EntityName>(query: Query<N, unknown>, spans: "kept_day" | "kept_month") =>
    (usesSums ? filtered(query) : query).where(
      // The bounds are what the planner estimates the number of rows by; `is true` keeps it from looking up each day.
      sql<boolean>`t.time_zone = ${timeZone} and t.day >= ${dayOf(before)} and t.day <= ${dayOf(to)} and (t.day in (select day from ${sql.table(spans)})) is true`,
    )
  // A kept day or month is of one period as a whole.
  const isCurrent = sql<boolean>`t.day >= ${dayOf(from)}`.as("is_current")
  const { sums, times, months } = keptQueries(reader, companyId, by, fields)
  const sumsOf = (query: Query<"OutcomeSum", unknown>) =>
    query
      .select([isCurrent, ofSum.as("group"), "t.outcome", "t.reopened", "t.hand_off_reason", "t.count"])
      .select(["t.input_tokens", "t.output_tokens", "t.rating", "t.ratings"])
      .$if(!times, (each) => each.select(["t.ai_ms", "t.ai_counts", "t.people_ms", "t.people_counts"]))
  const ofDays = sumsOf(ofSpans(sums, "kept_day"))
  const keptTimes = times
    ? ofSpans(times, "kept_day").select([isCurrent, ofSum.as("group"), "t.is_of_person", "t.ms", "t.count"])
    : sql`select is_current, "group", false, unnest(ai_ms), unnest(ai_counts) from kept_cell where ai_ms is not null
        union all select is_current, "group", true, unnest(people_ms), unnest(people_counts) from kept_cell where people_ms is not null`
  const spans = <N extends "OutcomeDay" | "OutcomeMonth">(model: ReadModel<N>, isUsed: boolean) =>
    (reader.scoped(model, [companyId]) as unknown as Query<"OutcomeMonth">)
      .where("t.time_zone", "=", timeZone)
      .where("t.from_at", ">=", before.toISOString())
      .where("t.to_at", "<=", to.toISOString())
      .where(sql<boolean>`${isUsed}::boolean`)
      .select(["t.day", "t.from_at", "t.to_at"])
  return {
    ...{ inGap, keptTimes },
    keptSums: months ? ofDays.unionAll(sumsOf(ofSpans(months, "kept_month"))) : ofDays,
    days: spans(outcomeDayReadModel, usesSums).where(sql<boolean>`t.has_dimensions`),
    months: spans(outcomeMonthReadModel, usesSums && months !== null),
  }
}
