import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { ofZone, parameters, shared } from "./keep-day.js"

/** Months of a time zone whose days are all kept and that are not kept themselves, the newest first. */
const missingMonths: Statement<{ day: string }> = {
  name: "outcome-months-to-keep",
  text: `
    select month::date::text as day from (
      select date_trunc('month', day::timestamp) as month, count(*) as days from outcome_day ${ofZone} and has_dimensions group by 1
    ) of_month
    where days = extract(day from month + interval '1 month' - interval '1 day')
      and not exists (select from outcome_month m where m.company_id = $1 and m.time_zone = $3 and m.day = month::date)
    order by month desc`,
}

/**
 * Holds the days of a month, so that who changes one of them deletes the month afterwards. A day that is being deleted is not waited for, which
 * could be in a circle; the month is then kept later.
 */
const holdDays: Statement<{ day: string }> = {
  name: "hold-days-of-outcome-month",
  text: `
    select day from outcome_day ${ofZone} and has_dimensions and day >= $4::date and day < $4::date + interval '1 month' for no key update skip locked`,
}

/** Marks a month as kept; no row when it is already, or when a day was not held. */
const markMonth: Statement = {
  name: "keep-outcome-month",
  text: `
    insert into outcome_month (company_id, time_zone, day, from_at, to_at)
    select company_id, time_zone, day, day::timestamp at time zone $3, (day + interval '1 month') at time zone $3 from (select ${parameters}) given
    where company_id = any($2::uuid[]) and $5 = extract(day from day + interval '1 month' - interval '1 day')
    on conflict do nothing returning 1`,
}

const clearMonth: Statement = { name: "clear-outcome-month-sums", text: `delete from outcome_month_sum ${ofZone} and day = $4` }

const times = (of: "ai" | "people") =>
  `array_agg(ms order by ms) filter (where kind = '${of}'), array_agg(same.count order by ms) filter (where kind = '${of}')`

/** Sums over the days; a row of a day is read once for its sums and once for each of its times. */
const sumUp: Statement = {
  name: "keep-outcome-month-sums",
  text: `
    insert into outcome_month_sum (company_id, time_zone, day, place, ${shared}, count, input_tokens, output_tokens, rating, ratings,
      ai_ms, ai_counts, people_ms, people_counts)
    select ${parameters}, row_number() over (), sums.* from (
      select ${shared}, sum(same.count) filter (where kind = 'sums'), sum(input_tokens), sum(output_tokens), sum(rating), sum(ratings),
        ${times("ai")}, ${times("people")}
      from (
        select ${shared}, kind, ms, sum(each.count)::integer as count, sum(each.input_tokens) as input_tokens, sum(each.output_tokens) as output_tokens,
          sum(each.rating) as rating, sum(each.ratings) as ratings
        from outcome_sum cross join lateral (
          select 'sums', null::integer, count, input_tokens, output_tokens, rating, ratings
          union all select 'ai', unnest(ai_ms), unnest(ai_counts), 0, 0, 0, 0
          union all select 'people', unnest(people_ms), unnest(people_counts), 0, 0, 0, 0
        ) each (kind, ms, count, input_tokens, output_tokens, rating, ratings)
        ${ofZone} and day >= $4::date and day < $4::date + interval '1 month' group by ${shared}, kind, ms
      ) same group by ${shared}
    ) sums`,
}

/** Keeps the sums of the months of a company in a time zone whose days are all kept, one month in each transaction, until `ends` aborts. */
export async function keepMonths(context: RequestContext, companyId: string, timeZone: string, ends: AbortSignal): Promise<void> {
  const months = await context.statement(missingMonths, [companyId, context.companyIds, timeZone])
  for (const { day } of months) {
    if (ends.aborted) return
    await context.transaction(async (tx) => {
      const values = [companyId, tx.companyIds, timeZone, day]
      const held = await tx.run(holdDays, values)
      if ((await tx.run(markMonth, [...values, held.length])).length === 0) return
      await tx.run(clearMonth, values)
      await tx.run(sumUp, values)
    })
  }
}
