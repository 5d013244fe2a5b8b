import { sql } from "kysely"
import type { Narrow, Query } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import type { EntityName } from "../database/tables.js"
import { stretchOutcomes } from "../entities/kit/stretch-words.js"
import { type GroupBy, outcomeDayReadModel } from "../schema/outcome.js"
import { stretchReadModel } from "../schema/stretch.js"
import { groupColumns, keptQueries } from "./kept-rows.js"
import { outcomeLimits } from "./limits.js"

/** What a report is about. */
export interface Asked {
  companyId: string
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

/** The sums of a group; of the whole report where `is_total` is 1. */
export interface SumsRow {
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
  "stretches",
  ...stretchOutcomes.map((outcome) => outcome.toLowerCase()),
  "reopened",
  "handed_off",
  "input_tokens",
].concat([...["output_tokens", "rating", "ratings", "read"]])

/**
 * One statement for a period: days whose sums are kept (`kept`) are read from them, the time between (`gap`) from stretches, one by one. With kept
 * sums all times are rounded, without them they are exact.
 */
export function reportSql(reader: Reader, asked: Asked) {
  const { p50, p95 } = outcomeLimits.percentiles
  const { companyId, by, usesSums } = asked
  const filtered = <N extends EntityName, O>(query: Query<N, O>) => (asked.matching as Narrow<N>)(query)
  const { ofStretch, ofSum } = groupColumns[by](asked.timeZone)
  const [from, to, zone] = [asked.from.toISOString(), asked.to.toISOString(), asked.timeZone]
  const kept = reader
    .scoped(outcomeDayReadModel, [companyId])
    .where("t.time_zone", "=", zone)
    .where("t.from_at", ">=", from)
    .where("t.to_at", "<=", to)
    .where(sql<boolean>`t.has_dimensions and ${usesSums}::boolean`)
    .select(["t.day", "t.from_at", "t.to_at"])
  const inGap = filtered(reader.scoped(stretchReadModel, [companyId]))
    .where(sql<boolean>`t.started_at >= gap.from_at and t.started_at < gap.to_at and t.ended_at is not null`)
    .select([
      ofStretch.as("group"),
      ...(["t.outcome", "t.reopened", "t.hand_off_reason", "t.input_tokens", "t.output_tokens", "t.rating"] as const),
    ])
    .select([sql`t.ai_answer_ms[1]`.as("ai_ms"), sql`t.people_answer_ms[1]`.as("people_ms")])
    // Keeps the planner from joining all stretches with the gaps, of which it expects many.
    .offset(0)
  const ofKeptDays = <N extends EntityName>(query: Query<N, unknown>) =>
    (usesSums ? filtered(query) : query).where(
      // The bounds are what the planner estimates the number of rows by.
      sql<boolean>`t.time_zone = ${zone} and t.day >= (${from}::timestamptz at time zone ${zone})::date
        and t.day <= (${to}::timestamptz at time zone ${zone})::date and t.day in (select day from kept)`,
    )
  const ofDays = keptQueries(reader, companyId, by, asked.fields)
  const keptSums = ofKeptDays(ofDays.sums).select([
    ...([ofSum.as("group"), "t.outcome", "t.reopened", "t.hand_off_reason", "t.count", sql<number>`0`.as("read")] as const),
    ...(["t.input_tokens", "t.output_tokens", "t.rating", "t.ratings"] as const),
  ])
  const keptTimes = ofKeptDays(ofDays.times).select([ofSum.as("group"), "t.is_of_person", "t.ms", "t.count"])
  const percentileOf = (name: string, isOfPerson: boolean) => sql`left join percentile ${sql.ref(name)}
      on ${sql.ref(`${name}.is_total`)} = counted.is_total and ${sql.ref(`${name}.key`)} = coalesce(counted."group", '') and ${sql.ref(`${name}.is_of_person`)} = ${sql.lit(isOfPerson)}`
  return sql<SumsRow>`
    with kept as materialized (${kept}), exactness as materialized (select not exists (select from kept) as is_exact),
    edge as (
      select from_at, to_at from kept union all select at, at from (values (${from}::timestamptz), (${to}::timestamptz)) bounds (at)
    ), gap as materialized (
      select * from (select to_at as from_at, lead(from_at) over (order by from_at, to_at) as to_at from edge) between_kept where from_at < to_at
    ), read_one as materialized (
      select found.* from gap cross join lateral ${inGap} found
    ), cell as not materialized (
      select "group", outcome, reopened, hand_off_reason, 1 as count, 1 as read, input_tokens::bigint, output_tokens::bigint,
        coalesce(rating, 0)::integer as rating, (rating is not null)::integer as ratings
      from read_one union all ${keptSums}
    ), counted_group as materialized (
      select "group", ${sumsOfCells} from cell group by "group"
    ), counted as (
      select 0 as is_total, "group"::text as "group", ${sql.join(sumColumns.map((name) => sql.ref(name)))} from counted_group
      union all select 1, null, ${sql.join(sumColumns.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)`))} from counted_group
    ), answer_time as not materialized (
      select "group", is_of_person, case when is_exact then ms else rounded_ms(ms) end as ms, 1 as count
      from exactness cross join read_one cross join lateral (values (false, ai_ms), (true, people_ms)) answer (is_of_person, ms)
      where ms is not null union all ${keptTimes}
    ), same_time as materialized (
      select "group", is_of_person, ms, sum(count) as count from answer_time group by "group", is_of_person, ms
    ), each_time as (
      select 0 as is_total, coalesce("group"::text, '') as key, is_of_person, ms, count from same_time
      union all select 1, '', is_of_person, ms, sum(count) from same_time group by is_of_person, ms
    ), ranked as (
      select *, sum(count) over (partition by is_total, key, is_of_person order by ms) as upto,
        sum(count) over (partition by is_total, key, is_of_person) as all_of_them
      from each_time
    ), percentile as materialized (
      select is_total, key, is_of_person, min(ms) filter (where upto >= all_of_them * ${p50}::numeric) as p50,
        min(ms) filter (where upto >= all_of_them * ${p95}::numeric) as p95
      from ranked group by is_total, key, is_of_person
    )
    select counted.*, ai.p50 as ai_p50, ai.p95 as ai_p95, people.p50 as people_p50, people.p95 as people_p95,
      (select not is_exact from exactness) as uses_sums
    from counted ${percentileOf("ai", false)} ${percentileOf("people", true)}`
}
