import { v7 } from "uuid"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { outcomeLimits } from "./limits.js"

const dayMs = 24 * 60 * 60 * 1000

/** Days of a time zone, newest first, that are old enough, have no kept sums, and are not before the company's first stretch. */
const missingDays: Statement<{ day: string }> = {
  name: "outcome-days-to-keep",
  text: `
    select each::date::text as day from (
      select min(started_at) at time zone $3 as first from stretch where company_id = $1 and company_id = any($2::uuid[])
    ) bounds, generate_series(date_trunc('day', $4::timestamptz at time zone $3) - interval '1 day', date_trunc('day', bounds.first), interval '-1 day') each
    where not exists (select from outcome_day d where d.company_id = $1 and d.time_zone = $3 and d.day = each::date)
    limit $5`,
}

const parameters = "$1::uuid as company_id, $3::text as time_zone, $4::date as day"

/** Waits for those who change stretches of the day, and makes others wait; in the order of the days in UTC that it may have. */
const lockDay: Statement = {
  name: "lock-outcome-day",
  text: `
    select pg_advisory_xact_lock(hashtextextended($1::uuid::text || (($4::date::timestamp at time zone $3 + each * interval '12 hours') at time zone 'UTC')::date::text, 0))
    from generate_series(0, 2) each where $1 = any($2::uuid[])`,
}

const ofZone = "where company_id = $1 and company_id = any($2::uuid[]) and time_zone = $3"

const shared = "assistant_id, messenger, person_id, hand_off_reason, outcome, reopened"

const ofDay = `company_id = $1 and company_id = any($2::uuid[]) and ended_at is not null
        and started_at >= $4::date::timestamp at time zone $3 and started_at < ($4::date + 1)::timestamp at time zone $3`

/** Marks a day as kept; no row when it is already. */
const markDay: Statement = {
  name: "keep-outcome-day",
  text: `
      insert into outcome_day (company_id, time_zone, day, from_at, to_at)
      select company_id, time_zone, day, day::timestamp at time zone $3, (day + 1)::timestamp at time zone $3 from (select ${parameters}) given
      where company_id = any($2::uuid[]) on conflict do nothing returning 1`,
}

/** Replaces the sums of a day by those of the stretches as they are now. */
const keepDay: Statement[] = [
  { name: "forget-outcome-sums", text: `delete from outcome_sum ${ofZone} and day = $4` },
  { name: "forget-outcome-times", text: `delete from outcome_time ${ofZone} and day = $4` },
  {
    name: "keep-outcome-sums",
    text: `
      insert into outcome_sum (company_id, time_zone, day, place, ${shared}, count, input_tokens, output_tokens, rating, ratings)
      select ${parameters}, row_number() over (), sums.* from (
        select ${shared}, count(*), sum(input_tokens), sum(output_tokens), coalesce(sum(rating), 0), count(rating)
        from stretch where ${ofDay} group by ${shared}
      ) sums`,
  },
  {
    name: "keep-outcome-times",
    text: `
      insert into outcome_time (company_id, time_zone, day, place, ${shared}, is_of_person, ms, count)
      select ${parameters}, row_number() over (), times.* from (
        select ${shared}, is_of_person, rounded_ms(ms), count(*)
        from stretch cross join lateral (values (false, ai_answer_ms[1]), (true, people_answer_ms[1])) answer (is_of_person, ms)
        where ${ofDay} and ms is not null group by ${shared}, is_of_person, rounded_ms(ms)
      ) times`,
  },
]

/**
 * Keeps the sums of the days of a company in a time zone, the newest first and one day in each transaction, until `ends` aborts; days that may still
 * change are left out.
 */
export async function keepDays(services: Services, companyId: string, timeZone: string, ends: AbortSignal): Promise<void> {
  const context = systemContext(services, companyId)
  const until = new Date(clock.now().getTime() - outcomeLimits.keptAfterDays * dayMs)
  for (;;) {
    const days = await context.statement(missingDays, [companyId, context.companyIds, timeZone, until, outcomeLimits.keptBatch])
    for (const { day } of days) {
      if (ends.aborted) return
      await keep(context, [companyId, context.companyIds, timeZone, day])
    }
    if (days.length < outcomeLimits.keptBatch) break
  }
}

const keep = (context: RequestContext, values: unknown[]) =>
  context.transaction(async (tx) => {
    await tx.run(lockDay, values)
    if ((await tx.run(markDay, values)).length === 0) return
    for (const statement of keepDay) await tx.run(statement, values)
  })

const ask: Statement = {
  name: "ask-for-outcome-sums",
  text: `
    insert into outcome_zone as zone (id, created_at, updated_at, company_id, time_zone, asked_at)
    select $4, $5, $5, $1, $3, $5 where $1 = any($2::uuid[])
    on conflict (company_id, time_zone) do update set asked_at = excluded.asked_at, updated_at = excluded.updated_at
    where zone.asked_at < excluded.asked_at - interval '1 day'`,
}

/** Has the sums of a company in a time zone kept from now on, because a report read many stretches or used kept sums. */
export async function askForSums(services: Services, companyId: string, timeZone: string): Promise<void> {
  const context = systemContext(services, companyId)
  await context.statement(ask, [companyId, context.companyIds, timeZone, v7(), clock.now()])
}

const forget: Statement[] = [
  { name: "forget-outcome-zone", text: `delete from outcome_zone ${ofZone}` },
  { name: "forget-outcome-days", text: `delete from outcome_day ${ofZone}` },
  { name: "forget-sums-of-zone", text: `delete from outcome_sum ${ofZone}` },
  { name: "forget-times-of-zone", text: `delete from outcome_time ${ofZone}` },
]

/** Deletes the sums of a company in a time zone; a report that needs them asks for them again. */
export const forgetSums = (services: Services, companyId: string, timeZone: string): Promise<void> =>
  systemContext(services, companyId).transaction(async (tx) => {
    for (const statement of forget) await tx.run(statement, [companyId, tx.companyIds, timeZone])
  })
