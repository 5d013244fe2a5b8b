import { sql } from "kysely"
import type { RequestContext } from "../context/request-context.js"
import { runQuery } from "../database/run-query.js"
import { clock } from "../entities/kit/clock.js"
import { BadUserInput } from "../errors/errors.js"
import type { GroupBy } from "../schema/outcome.js"
import { outcomeLimits } from "./limits.js"

/** A part of a report's period with the name of its group. */
export interface Span {
  key: string
  from: Date
  to: Date
}

/** The period of a report and the one before, which has as many days and hours by the clock of the time zone. */
export interface Period {
  from: Date
  to: Date
  /** Begin of the period before, which ends where this one begins. */
  before: Date
  timeZone: string
  /** The days or weeks of the period and of the one before; empty for other groups. */
  spans: Span[]
  spansBefore: Span[]
}

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

/** PostgreSQL's code for a value that it does not accept, such as the name of a time zone. */
const notAccepted = "22023"

/** The name of a time zone, of which only the case is corrected: Asia/Kolkata stays so. Throws for anything but a name of the IANA database. */
export function timeZoneOf(name: string): string {
  try {
    const known = /^[A-Za-z]/.test(name) ? new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone : null
    if (known) return known.toLowerCase() === name.toLowerCase() ? known : name
  } catch {
    // Refused below.
  }
  throw notAZone()
}

const notAZone = () => bad("timeZone", "must be a name of the IANA database, for example Europe/Berlin")

interface Bounds {
  from: string
  to: string
  before: string
}

/** Reads the bounds of a period. Without an end it ends with today; without a begin it has the last four weeks, by whole days of the time zone. */
export async function periodOf(
  context: RequestContext,
  given: { from?: Date | null; to?: Date | null; timeZone: string; by: GroupBy },
): Promise<Period> {
  const { timeZone, by } = given
  const earliest = new Date(outcomeLimits.earliest)
  for (const path of ["from", "to"] as const)
    if (given[path] && given[path] < earliest) throw bad(path, `must be ${outcomeLimits.earliest} or later`)
  const zone = sql`${timeZone}::text`
  const tomorrow = sql`((${clock.now().toISOString()}::timestamptz at time zone ${zone})::date + 1)::timestamp at time zone ${zone}`
  const end = given.to ? sql`${given.to.toISOString()}::timestamptz` : sql`(${tomorrow})`
  const begin = given.from
    ? sql`${given.from.toISOString()}::timestamptz`
    : sql`((${end} at time zone ${zone})::date - ${outcomeLimits.periodDefaultDays}::integer)::timestamp at time zone ${zone}`
  const local = sql`select ${begin} as from_at, ${end} as to_at, ${begin} at time zone ${zone} as from_local, ${end} at time zone ${zone} as to_local`
  const bounds = sql<Bounds>`
    select from_at as "from", to_at as "to", (from_local - (to_local - from_local)) at time zone ${zone} as before from (${local}) bounds`
  const [found] = await runQuery<Bounds>(context.reader, bounds.compile(context.reader.sql)).catch((error) => {
    throw (error as { code?: string }).code === notAccepted ? notAZone() : error
  })
  const [from, to, before] = [new Date(found!.from), new Date(found!.to), new Date(found!.before)]
  if (from >= to) throw bad("to", "must be after from")
  if (to.getTime() - from.getTime() > outcomeLimits.periodDays * 24 * 60 * 60 * 1000)
    throw bad("to", `must be at most ${outcomeLimits.periodDays} days after from`)
  const spans = (begins: Date, ends: Date) => (by === "DAY" || by === "WEEK" ? spansOf(context, begins, ends, timeZone, by) : [])
  const [now, then] = await Promise.all([spans(from, to), spans(before, from)])
  return { from, to, before, timeZone, spans: now, spansBefore: then }
}

/** The days or weeks of a period; the first and the last one may be cut by it. */
async function spansOf({ reader }: RequestContext, from: Date, to: Date, timeZone: string, by: "DAY" | "WEEK"): Promise<Span[]> {
  const unit = by.toLowerCase()
  const [begin, end] = [sql`${from.toISOString()}::timestamptz`, sql`${to.toISOString()}::timestamptz`]
  const [zone, step] = [sql`${timeZone}::text`, sql`('1 ' || ${unit}::text)::interval`]
  const query = sql<{ key: string; from: string; to: string }>`
    select each::date::text as key, greatest(each at time zone ${zone}, ${begin}) as "from", least((each + ${step}) at time zone ${zone}, ${end}) as "to"
    from generate_series(date_trunc(${unit}::text, ${begin} at time zone ${zone}), ${end} at time zone ${zone} - interval '1 microsecond', ${step}) each`
  const rows = await runQuery<{ key: string; from: string; to: string }>(reader, query.compile(reader.sql))
  return rows.map((row) => ({ key: row.key, from: new Date(row.from), to: new Date(row.to) }))
}
