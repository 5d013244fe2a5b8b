import type { Statement } from "../database/unit-of-work.js"

/** The company, the companies in reach, the time zone and the day; parameters of all statements here. */
export const parameters = "$1::uuid as company_id, $3::text as time_zone, $4::date as day"

/** Condition on a company and a time zone, the first three parameters. */
export const ofZone = "where company_id = $1 and company_id = any($2::uuid[]) and time_zone = $3"

/** Tables of the sums of a day, which are valid only with a row of `outcome_day`. */
export const sumTables = ["outcome_sum", "outcome_time", "outcome_dimension_sum", "outcome_dimension_time"] as const

/** Waits for those who change stretches of the day, and makes others wait; in the order of the days in UTC that it may have. */
const lockDay: Statement = {
  name: "lock-outcome-day",
  text: `
    select pg_advisory_xact_lock(hashtextextended($1::uuid::text || (($4::date::timestamp at time zone $3 + each * interval '12 hours') at time zone 'UTC')::date::text, 0))
    from generate_series(0, 2) each where $1 = any($2::uuid[])`,
}

/** Marks a day as kept; no row when this version of the server kept it already. */
const markDay: Statement = {
  name: "keep-outcome-day",
  text: `
      insert into outcome_day as kept (company_id, time_zone, day, from_at, to_at, has_dimensions)
      select company_id, time_zone, day, day::timestamp at time zone $3, (day + 1)::timestamp at time zone $3, true from (select ${parameters}) given
      where company_id = any($2::uuid[])
      on conflict (company_id, time_zone, day) do update set has_dimensions = true where not kept.has_dimensions returning 1`,
}

/** The columns that stretches are counted together by. */
export const shared = "assistant_id, messenger, person_id, hand_off_reason, outcome, reopened"

const ofDay = `company_id = $1 and company_id = any($2::uuid[]) and ended_at is not null
        and started_at >= $4::date::timestamp at time zone $3 and started_at < ($4::date + 1)::timestamp at time zone $3`

const times = (isOfPerson: boolean) => `
          array_agg(ms order by ms) filter (where is_of_person = ${isOfPerson}), array_agg(count order by ms) filter (where is_of_person = ${isOfPerson})`

const sumUp: Statement[] = [
  {
    name: "keep-outcome-sums",
    // A stretch has up to three rows: one with its sums, and one with each time until the first answer.
    text: `
      insert into outcome_sum (company_id, time_zone, day, place, ${shared}, count, input_tokens, output_tokens, rating, ratings,
        ai_ms, ai_counts, people_ms, people_counts)
      select ${parameters}, row_number() over (), sums.* from (
        select ${shared}, sum(count) filter (where is_of_person is null), sum(input_tokens) filter (where is_of_person is null), sum(output_tokens) filter (where is_of_person is null),
          coalesce(sum(rating) filter (where is_of_person is null), 0), coalesce(sum(ratings) filter (where is_of_person is null), 0),
          ${times(false)}, ${times(true)}
        from (
          select ${shared}, is_of_person, rounded_ms(ms) as ms, count(*)::integer as count,
            sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(rating) as rating, count(rating) as ratings
          from stretch cross join lateral (values (null, null), (false, ai_answer_ms[1]), (true, people_answer_ms[1])) answer (is_of_person, ms)
          where ${ofDay} and (is_of_person is null or ms is not null) group by ${shared}, is_of_person, rounded_ms(ms)
        ) same_time group by ${shared}
      ) sums`,
  },
  {
    name: "keep-outcome-dimension-sums",
    text: `
      insert into outcome_dimension_sum (company_id, time_zone, day, dimension, place, assistant_id, messenger, person_id, hand_off_reason, outcome,
        reopened, count, input_tokens, output_tokens, rating, ratings)
      select ${parameters}, case when grouping(assistant_id) = 0 then 'ASSISTANT' when grouping(messenger) = 0 then 'MESSENGER'
          when grouping(person_id) = 0 then 'PERSON' else 'ALL' end,
        row_number() over (), assistant_id, messenger, person_id, hand_off_reason, outcome,
        reopened, sum(count), sum(input_tokens), sum(output_tokens), sum(rating), sum(ratings)
      from outcome_sum ${ofZone} and day = $4
      group by hand_off_reason, outcome, reopened, grouping sets ((), (assistant_id), (messenger), (person_id))`,
  },
  {
    name: "keep-outcome-dimension-times",
    text: `
      insert into outcome_dimension_time (company_id, time_zone, day, dimension, place, assistant_id, messenger, person_id, hand_off_reason, outcome,
        is_of_person, ms, count)
      select ${parameters}, case when grouping(assistant_id) = 0 then 'ASSISTANT' when grouping(messenger) = 0 then 'MESSENGER'
          when grouping(person_id) = 0 then 'PERSON' when grouping(hand_off_reason) = 0 then 'HANDOFF_REASON'
          when grouping(outcome) = 0 then 'OUTCOME' else 'ALL' end,
        row_number() over (), assistant_id, messenger, person_id, hand_off_reason, outcome, is_of_person, ms, sum(same.count)
      from outcome_sum cross join lateral (
        select false, unnest(ai_ms), unnest(ai_counts) union all select true, unnest(people_ms), unnest(people_counts)
      ) same (is_of_person, ms, count)
      ${ofZone} and day = $4
      group by is_of_person, ms, grouping sets ((), (assistant_id), (messenger), (person_id), (hand_off_reason), (outcome))`,
  },
]

/** The statements that keep the sums of a day: the first waits for changes of the day, the second has no row where there is nothing to do. */
export const keepDay = {
  lock: lockDay,
  mark: markDay,
  replace: [
    ...sumTables.map((table): Statement => ({ name: `clear-${table}`, text: `delete from ${table} ${ofZone} and day = $4` })),
    ...sumUp,
  ],
}
