/** Periods of reports, as pure functions of a time zone and of the present. A day is a text, `YYYY-MM-DD`, as the calendar of the zone has it. */

const dayMs = 24 * 60 * 60 * 1000

/** Periods that end with the present, by their names in the address. */
export const presets = ["last-week", "this-week", "7-days", "30-days", "90-days"] as const
export type Preset = (typeof presets)[number]

/** A period as a person chose it: by its name, or by its first and last day. */
export interface Choice {
  readonly preset: Preset | null
  readonly first: string
  readonly last: string
  /** A name of the IANA database. */
  readonly zone: string
}

/** A period as the server reads it: it ends before `to`. */
export interface Period {
  readonly first: string
  readonly last: string
  readonly from: Date
  readonly to: Date
  readonly zone: string
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Throws a `RangeError` for a zone that the browser does not know. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const parts = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" } as const
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", calendar: "iso8601", ...parts })
    formats.set(zone, format)
  }
  return format
}

/** Whether the browser knows the name of a time zone. */
export function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== null
  } catch {
    return false
  }
}

/** What the clocks of a zone show at a time, as if it were UTC, in milliseconds. */
function localMs(zone: string, at: number): number {
  const part = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  return Date.UTC(part["year"]!, part["month"]! - 1, part["day"], part["hour"], part["minute"], part["second"])
}

const offsetMs = (zone: string, at: number) => localMs(zone, at) - at

const utcOf = (day: string) => Date.parse(`${day}T00:00:00Z`)
const textOf = (utc: number) => new Date(utc).toISOString().slice(0, 10)

/** Whether a text is a day that the calendar has, of this millennium: the server refuses earlier ones. */
export const isDay = (text: string): boolean =>
  /^2\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(utcOf(text)) && textOf(utcOf(text)) === text

/** The day that many days later. */
export const addDays = (day: string, days: number): string => textOf(utcOf(day) + days * dayMs)

/** How many days a period of whole days has. */
export const daysBetween = (first: string, last: string): number => Math.round((utcOf(last) - utcOf(first)) / dayMs) + 1

/** The day that the calendar of a zone has at a time. */
export const dayOf = (zone: string, at: Date): string => textOf(localMs(zone, at.getTime()))

/**
 * The begin of a day in a zone, as PostgreSQL finds it: where the clocks are put forward over midnight the moment when they are, where midnight
 * comes twice the second one.
 */
export function startOfDay(zone: string, day: string): Date {
  const local = utcOf(day)
  const [before, after] = [local - offsetMs(zone, local - dayMs), local - offsetMs(zone, local + dayMs)]
  return new Date(localMs(zone, after) === local ? after : before)
}

/** The Monday of the week of a day. */
const mondayOf = (day: string) => addDays(day, -((new Date(utcOf(day)).getUTCDay() + 6) % 7))

/** The first and the last day of a period that ends with today; a week is shown to its Sunday. */
const daysOf: Record<Preset, (today: string) => [first: string, last: string]> = {
  "7-days": (today) => [addDays(today, -6), today],
  "30-days": (today) => [addDays(today, -29), today],
  "90-days": (today) => [addDays(today, -89), today],
  "this-week": (today) => [mondayOf(today), addDays(mondayOf(today), 6)],
  "last-week": (today) => [addDays(mondayOf(today), -7), addDays(mondayOf(today), -1)],
}

/** The period of a choice at a time. */
export function periodOf({ preset, first, last, zone }: Choice, now: Date): Period {
  const days = preset ? daysOf[preset](dayOf(zone, now)) : [first, last].sort()
  return between(zone, days[0]!, days[1]!)
}

/** The period from the first to the last of these days. */
export const between = (zone: string, first: string, last: string): Period => ({
  ...{ first, last, zone },
  from: startOfDay(zone, first),
  to: startOfDay(zone, addDays(last, 1)),
})

/** The period before one, with as many days. */
export const periodBefore = ({ first, last, zone }: Pick<Period, "first" | "last" | "zone">): Period =>
  between(zone, addDays(first, -daysBetween(first, last)), addDays(first, -1))

/** What is shown at first: reports of the last week, whose days are all over; lists of what is to be done with what is new. */
export const usualOf = (path: string): Preset => (/\/(questions|hits)$/.test(path) ? "30-days" : "last-week")

/** The choice that the query of an address names; what is missing or wrong in it is the usual period in the browser's zone. */
export function choiceOf(query: URLSearchParams, zoneOfBrowser: string, usual: Preset): Choice {
  const text = (name: string) => query.get(name) ?? ""
  const zone = isZone(text("zone")) ? text("zone") : zoneOfBrowser
  const [first, last] = [text("from"), text("to")]
  if (isDay(first) && isDay(last)) return { preset: null, first, last, zone }
  return { preset: presets.find((name) => name === text("period")) ?? usual, first: "", last: "", zone }
}

/** The names of an address that choose a period. */
export const addressOf = ({ preset, first, last, zone }: Choice): Record<string, string> => ({
  ...(preset ? { period: preset, from: "", to: "" } : { period: "", from: first, to: last }),
  zone,
})
