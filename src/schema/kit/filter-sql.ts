import { type RawBuilder, sql } from "kysely"
import type { Narrow } from "../../database/read-model.js"
import type { EntityName } from "../../database/tables.js"
import { type Condition, dayAfter, type FilterField, literal } from "./filter.js"

/** How the conditions on a field are compiled to SQL. */
export interface FilterColumn {
  /** The column, as `t.name`. */
  column: string
  /** Type of the values: `day` is a whole day in UTC; of an `id`, the value `null` means that none is set. */
  type: "value" | "day" | "id"
  /** Replaces a value before it is compared. */
  convert?(value: unknown): unknown
  /** Compiles the conditions of a field that is not one column. */
  sql?(condition: Condition): RawBuilder<boolean>
}

/** A filterable field with its column. */
export type ListField = FilterField & FilterColumn

/** Limits a query to the rows that meet all conditions. */
export function narrowedBy<N extends EntityName>(fields: Record<string, ListField>, conditions: Condition[]): Narrow<N> {
  const ready = conditions.map((condition) => conditionSql(fields[condition.field]!, condition))
  return (query) => ready.reduce((found, condition) => found.where(condition), query)
}

function conditionSql(field: ListField, { field: name, operator, values: given }: Condition): RawBuilder<boolean> {
  const values = field.convert ? given.map((value) => field.convert!(value)) : given
  // Only a typed `where` can contain an empty list: `in` matches no row, `nin` every row.
  if (values.length === 0) return operator === "nin" ? sql`true` : sql`false`
  if (field.sql) return field.sql({ field: name, operator, values })
  const column = sql.ref(field.column)
  if (field.type === "day") return daySql(column, operator, values.map(String))
  const [first, second] = values
  if (operator === "like") return sql`${column} ilike ${`%${literal(String(first))}%`}`
  if (operator === "startsWith") return sql`${column} ilike ${`${literal(String(first))}%`}`
  if (operator === "gte") return sql`${column} >= ${first}`
  if (operator === "lte") return sql`${column} <= ${first}`
  if (operator === "between") return sql`${column} between ${first} and ${second}`
  const isOneOf = field.type === "id" ? isOneOfIds(column, values) : isOneOfValues(column, values)
  return operator === "nin" ? sql`(${isOneOf}) is not true` : isOneOf
}

/** Compares whole days: `lte` and the end of `between` include their day. */
function daySql(column: RawBuilder<unknown>, operator: Condition["operator"], [first = "", second = ""]: string[]): RawBuilder<boolean> {
  if (operator === "gte") return sql`${column} >= ${new Date(first)}`
  if (operator === "lte") return sql`${column} < ${dayAfter(first)}`
  return sql`${column} >= ${new Date(first)} and ${column} < ${dayAfter(second)}`
}

/** Compares with a list; repeated values would be parameters, whose number is limited. */
const isOneOfValues = (column: RawBuilder<unknown>, values: unknown[]): RawBuilder<boolean> =>
  sql`${column} in (${sql.join([...new Set(values)])})`

/** Compares an ID column with a list of IDs, in which `null` means that no ID is set. */
function isOneOfIds(column: RawBuilder<unknown>, values: unknown[]): RawBuilder<boolean> {
  const ids = values.filter((value) => value !== "null")
  // One ID is compared with `=`, which costs a fraction over many rows.
  const isInList = ids.length === 1 ? sql<boolean>`${column} = ${ids[0]}::uuid` : sql<boolean>`${column} = any(${ids}::uuid[])`
  if (ids.length === values.length) return isInList
  return ids.length === 0 ? sql`${column} is null` : sql`(${column} is null or ${isInList})`
}
