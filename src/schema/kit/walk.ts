import { sql } from "kysely"
import type { Query } from "../../database/read-model.js"
import type { FilterTemplate, ListTemplate } from "../../database/reader.js"
import type { EntityName } from "../../database/tables.js"
import { isUuid } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors.js"

/** How a list is paged: by these columns, in this direction, from this place. */
export interface Walk {
  /** Name of the list and its order, written into its cursors. */
  list: string
  /** Properties of the keyset with their SQL types, most significant first; together unique. */
  keys: { property: string; column: string; type: "timestamptz" | "uuid" | "integer" }[]
  descending: boolean
  size: number
  after?: string | null
  /** Offset paging, the legacy way; null for keyset paging. */
  skip: number | null
}

const notOfThisList = () => {
  const message = "is not a cursor of this list and order"
  return new BadUserInput(`cursor ${message}`, [{ path: "cursor", message }])
}

/** Makes an opaque, URL-safe cursor; `list` names the list and its order, so that a cursor of another list is refused. */
export const cursorOf = (list: string, key: unknown[]) => Buffer.from(JSON.stringify([list, ...key])).toString("base64url")

/** Reads a cursor back; a malformed one, or one of another list or order, is a bad input. */
function readCursor(list: string, cursor: string, parts: number): unknown[] {
  try {
    const [name, ...key] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    if (name === list && key.length === parts) return key
  } catch {
    // Refused below.
  }
  throw notOfThisList()
}

/** Whether a part of a cursor is a valid value of its column, so that no malformed value reaches the database. */
const partFits: Record<Walk["keys"][number]["type"], (value: unknown) => boolean> = {
  timestamptz: isMoment,
  uuid: isUuid,
  integer: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
}

/** Whether a text is a valid timestamp in PostgreSQL's format. */
function isMoment(value: unknown): boolean {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?$/.exec(String(value)) ?? []
  const date = new Date(`${day}T${time}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${day}T${time}`)
}

/** The keyset's values at the place that a cursor names; one that is no cursor of this walk is refused. */
export function placeOf({ after, list, keys }: Walk): unknown[] | null {
  if (!after) return null
  const parts = readCursor(list, after, keys.length)
  if (!keys.every((key, index) => partFits[key.type](parts[index]))) throw notOfThisList()
  return parts
}

/** Orders a query by the keys of its walk. */
export const ordered = <N extends EntityName, O>(query: Query<N, O>, { keys, descending }: Walk): Query<N, O> =>
  keys.reduce((page, { column }) => page.orderBy(sql.ref(`t.${column}`), descending ? "desc" : "asc"), query)

/** Bounds a query to the page after a place, and one row more. */
export function walked<N extends EntityName, O>(query: Query<N, O>, walk: Walk, place: unknown[] | null): Query<N, O> {
  let page = ordered(query, walk)
  if (place) {
    const columns = sql.join(walk.keys.map((key) => sql.ref(`t.${key.column}`)))
    const values = sql.join(walk.keys.map((key, index) => sql`${place[index]}::${sql.raw(key.type)}`))
    // One row comparison: the equivalent with OR is 3.7 times slower at page 1,000.
    page = page.where(sql<boolean>`(${columns}) ${sql.raw(walk.descending ? "<" : ">")} (${values})`)
  }
  if (walk.skip) page = page.offset(walk.skip)
  // A literal, so that a prepared statement is planned for this limit.
  return page.limit(sql.lit(walk.size + 1))
}

/** The same as a template. */
export function walkedTemplate<N extends EntityName>(filter: FilterTemplate<N>, walk: Walk, place: unknown[] | null): ListTemplate<N> {
  const count = filter.values.length
  const { keys, descending, size } = walk
  return {
    key: JSON.stringify([filter.key, keys, descending, size, place !== null]),
    values: [...filter.values, ...(place ?? [])],
    build: (query, values) => walked(filter.build(query, values.slice(0, count)), walk, place && values.slice(count)),
  }
}
