import { type RawBuilder, sql } from "kysely"
import type { Narrow, Query } from "../database/read-model.js"
import { arrayOf, type Reader } from "../database/reader.js"
import type { EntityName } from "../database/tables.js"
import { type GroupBy, outcomeDayReadModel, outcomeSumReadModel, outcomeTimeReadModel } from "../schema/outcome.js"
import { stretchReadModel } from "../schema/stretch.js"
import { outcomeLimits } from "./limits.js"

/** What a report is about. */
export interface Asked {
  companyIds: string[]
  from: Date
  to: Date
  timeZone: string
  by: GroupBy
  /** Conditions on the columns that `stretch` and the kept sums share. */
  matching: Narrow<EntityName>
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

/** The column of a group, of stretches and of kept sums. */
const groups: Record<GroupBy, (timeZone: string) => { ofStretch: RawBuilder<string>; ofSum: RawBuilder<string> }> = {
  DAY: (zone) => ({ ofStretch: sql`(t.started_at at time zone ${zone}::text)::date::text`, ofSum: sql`t.day::text` }),
  WEEK: (zone) => ({
    ofStretch: sql`date_trunc('week', t.started_at at time zone ${zone}::text)::date::text`,
    ofSum: sql`date_trunc('week', t.day::timestamp)::date::text`,
  }),
  ASSISTANT: () => column("assistant_id"),
  MESSENGER: () => column("messenger"),
  PERSON: () => column("person_id"),
  HANDOFF_REASON: () => column("hand_off_reason"),
}

function column(name: string) {
  const text = sql<string>`${sql.ref(`t.${name}`)}::text`
  return { ofStretch: text, ofSum: text }
}

/**
 * One statement for a period: days whose sums are kept (`kept`) are read from them, the time between (`gap`) from stretches, one by one. With kept
 * sums all times have two significant digits, without them they are exact.
 */
export function reportSql(reader: Reader, asked: Asked) {
  const { p50, p95 } = outcomeLimits.percentiles
  const filtered = <N extends EntityName, O>(query: Query<N, O>) => (asked.matching as Narrow<N>)(query)
  const ofSums = <N extends EntityName, O>(query: Query<N, O>) => (asked.usesSums ? filtered(query) : query)
  const { ofStretch, ofSum } = groups[asked.by](asked.timeZone)
  const [from, to, zone] = [asked.from.toISOString(), asked.to.toISOString(), asked.timeZone]
  const kept = reader
    .scoped(outcomeDayReadModel, asked.companyIds)
    .where("t.time_zone", "=", zone)
    .where("t.from_at", ">=", from)
    .where("t.to_at", "<=", to)
    .where(sql<boolean>`${asked.usesSums}::boolean`)
    .select(["t.company_id", "t.day", "t.from_at", "t.to_at"])
  const read = filtered(reader.scoped(stretchReadModel, asked.companyIds))
    .where(
      sql<boolean>`t.company_id = gap.company_id and t.started_at >= gap.from_at and t.started_at < gap.to_at and t.ended_at is not null`,
    )
    .select(["t.outcome", "t.reopened", "t.hand_off_reason", "t.input_tokens", "t.output_tokens", "t.rating", ofStretch.as("group")])
    .select([sql<number>`t.ai_answer_ms[1]`.as("ai_ms"), sql<number>`t.people_answer_ms[1]`.as("people_ms")])
  const isKept = sql<boolean>`t.company_id = kept.company_id and t.time_zone = ${zone} and t.day = kept.day`
  const sums = ofSums(reader.scoped(outcomeSumReadModel, asked.companyIds))
    .where(isKept)
    .select([ofSum.as("group"), "t.outcome", "t.reopened", "t.hand_off_reason", "t.count", "t.input_tokens", "t.output_tokens"])
    .select(["t.rating", "t.ratings"])
  const times = ofSums(reader.scoped(outcomeTimeReadModel, asked.companyIds))
    .where(isKept)
    .select([ofSum.as("group"), "t.is_of_person", "t.ms", "t.count"])
  const ms = (column: string) =>
    sql`case when (select is_exact from exactness) then ${sql.ref(column)} else two_digits(${sql.ref(column)}) end`
  return sql<SumsRow>`
    with kept as materialized (${kept}), exactness as materialized (select not exists (select from kept) as is_exact),
    edge as (
      select company_id, from_at, to_at from kept
      union all select id, at, at from unnest(${arrayOf(asked.companyIds)}::uuid[]) id, (values (${from}::timestamptz), (${to}::timestamptz)) bounds (at)
    ), gap as materialized (
      select * from (
        select company_id, to_at as from_at, lead(from_at) over (partition by company_id order by from_at, to_at) as to_at from edge
      ) between_kept where from_at < to_at
    ), found as materialized (
      select stretch.* from gap cross join lateral ${read} stretch
    ), cell as (
      select "group", outcome, reopened, hand_off_reason, 1 as count, input_tokens::bigint, output_tokens::bigint, coalesce(rating, 0)::integer as rating,
        (rating is not null)::integer as ratings
      from found union all select sums.* from kept cross join lateral ${sums} sums
    ), counted as (
      select grouping("group") as is_total, "group", coalesce(sum(count), 0) as stretches,
        ${sql.join(
          ["AI_ALONE", "AI_THEN_PERSON", "PERSON_ALONE", "UNANSWERED"].map(
            (outcome) => sql`coalesce(sum(count) filter (where outcome = ${outcome}), 0) as ${sql.ref(outcome.toLowerCase())}`,
          ),
        )},
        coalesce(sum(count) filter (where reopened), 0) as reopened, coalesce(sum(count) filter (where hand_off_reason is not null), 0) as handed_off,
        coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(rating), 0) as rating, coalesce(sum(ratings), 0) as ratings
      from cell group by grouping sets (("group"), ())
    ), answer_time as (
      select "group", false as is_of_person, ${ms("ai_ms")} as ms, 1 as count from found where ai_ms is not null
      union all select "group", true, ${ms("people_ms")}, 1 from found where people_ms is not null
      union all select times.* from kept cross join lateral ${times} times
    ), same_time as (
      select grouping("group") as is_total, "group", is_of_person, ms, sum(count) as count
      from answer_time group by grouping sets (("group", is_of_person, ms), (is_of_person, ms))
    ), ranked as (
      select *, sum(count) over (partition by is_total, "group", is_of_person order by ms) as upto,
        sum(count) over (partition by is_total, "group", is_of_person) as all_of_them
      from same_time
    ), percentile as (
      select is_total, "group", is_of_person, min(ms) filter (where upto >= all_of_them * ${p50}::numeric) as p50,
        min(ms) filter (where upto >= all_of_them * ${p95}::numeric) as p95
      from ranked group by is_total, "group", is_of_person
    )
    select counted.*, ai.p50 as ai_p50, ai.p95 as ai_p95, people.p50 as people_p50, people.p95 as people_p95, (select count(*) from found) as read,
      (select not is_exact from exactness) as uses_sums
    from counted
    left join percentile ai on ai.is_total = counted.is_total and ai."group" is not distinct from counted."group" and not ai.is_of_person
    left join percentile people on people.is_total = counted.is_total and people."group" is not distinct from counted."group" and people.is_of_person`
}
