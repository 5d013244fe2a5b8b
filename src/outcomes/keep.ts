import { v7 } from "uuid"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { keepDay, ofZone, sumTables } from "./keep-day.js"
import { keepMonths } from "./keep-month.js"
import { outcomeLimits } from "./limits.js"

const dayMs = 24 * 60 * 60 * 1000

/** Days of a time zone, newest first, that are old enough, whose sums this version of the server has not kept, and that are not before the company's first stretch. */
const missingDays: Statement<{ day: string }> = {
  name: "outcome-days-to-keep",
  text: `
    select each::date::text as day from (
      select min(started_at) at time zone $3 as first from stretch where company_id = $1 and company_id = any($2::uuid[])
    ) bounds, generate_series(date_trunc('day', $4::timestamptz at time zone $3) - interval '1 day', date_trunc('day', bounds.first), interval '-1 day') each
    where not exists (select from outcome_day d where d.company_id = $1 and d.time_zone = $3 and d.day = each::date and d.has_dimensions)
    limit $5`,
}

/**
 * Keeps the sums of the days of a company in a time zone, the newest first and one day in each transaction, and then of its months, until `ends`
 * aborts; days that may still change are left out.
 */
export async function keepSums(services: Services, companyId: string, timeZone: string, ends: AbortSignal): Promise<void> {
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
  await keepMonths(context, companyId, timeZone, ends)
}

const keep = (context: RequestContext, values: unknown[]) =>
  context.transaction(async (tx) => {
    await tx.run(keepDay.lock, values)
    if ((await tx.run(keepDay.mark, values)).length === 0) return
    for (const statement of keepDay.replace) await tx.run(statement, values)
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

const forget = ["outcome_zone", "outcome_day", "outcome_month", "outcome_month_sum", ...sumTables].map(
  (table): Statement => ({ name: `forget-${table}`, text: `delete from ${table} ${ofZone}` }),
)

/** Deletes the sums of a company in a time zone; a report that needs them asks for them again. */
export const forgetSums = (services: Services, companyId: string, timeZone: string): Promise<void> =>
  systemContext(services, companyId).transaction(async (tx) => {
    for (const statement of forget) await tx.run(statement, [companyId, tx.companyIds, timeZone])
  })
