import { isUuid } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors/errors.js"
import { schemaLimits } from "../limits.js"

/** The operators of the filter grammar (specification, Calls). */
export type FilterOperator = "eq" | "in" | "nin" | "like" | "startsWith" | "gte" | "lte" | "between"

/** Parses one value of a field; null when the value is invalid. */
export type ValueReader = (text: string) => unknown | null

/** A filterable field: its operators, and the parser of its values. */
export interface FilterField {
  operators: FilterOperator[]
  read: ValueReader
  /** Description of a valid value, for error messages. */
  expects: string
}

/** A condition: one value for most operators, a list for `in` and `nin`, two values for `between`. */
export interface Condition {
  field: string
  operator: FilterOperator
  values: unknown[]
}

const bad = (part: string, why: string, path = "filter") =>
  new BadUserInput(`${path}: "${part}" ${why}`, [{ path, message: `"${part}" ${why}` }])

/** Splits at a separator that is not escaped; the escapes are kept for the next split. */
function split(text: string, separator: string): string[] {
  const parts = [""]
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!
    if (character === "\\") {
      parts[parts.length - 1] += character + (text[index + 1] ?? "")
      index += 1
    } else if (character === separator) parts.push("")
    else parts[parts.length - 1] += character
  }
  return parts
}

/** Removes the escapes of a value; only separators and the backslash can be escaped. */
function unescaped(value: string, part: string): string {
  return value.replace(/\\(.?)/gs, (_all, character: string) => {
    if (character === "") throw bad(part, "ends with an incomplete escape")
    if (!";,\\".includes(character)) throw bad(part, `escapes "${character}"; only ; , and \\ can be escaped`)
    return character
  })
}

const severalValues: FilterOperator[] = ["in", "nin", "between"]

/** Parses `field:op:value;…` (contract, section 4); an error is a bad input that names the offending part. */
export function parseFilter(fields: Record<string, FilterField>, text: string): Condition[] {
  const parts = split(text, ";")
  if (parts.length > schemaLimits.filterConditions)
    throw bad(parts[schemaLimits.filterConditions]!, `is one condition too many: a filter has at most ${schemaLimits.filterConditions}`)
  return parts.map((part) => {
    if (part === "") throw bad(part, "is empty: conditions are separated by one ;")
    const [, field = "", operator = "", value] = /^([^:]*):([^:]*):(.*)$/s.exec(part) ?? []
    if (value === undefined) throw bad(part, "is not a condition of the form field:op:value")
    const isList = severalValues.includes(operator as FilterOperator)
    const given = isList ? split(value, ",") : [value]
    return condition(
      fields,
      field,
      operator,
      given.map((each) => unescaped(each, part)),
      part,
    )
  })
}

/** Converts a typed `where`, `{ field: { op: value } }`, to the same conditions. */
export function whereConditions(fields: Record<string, FilterField>, where: object): Condition[] {
  return Object.entries(where).flatMap(([field, operators]) =>
    Object.entries((operators as object | null) ?? {}).flatMap(([operator, value]) => {
      if (value == null) return []
      const given = (Array.isArray(value) ? value : [value]).map(String)
      return [condition(fields, field, operator, given, String(value), field)]
    }),
  )
}

function condition(
  fields: Record<string, FilterField>,
  field: string,
  operator: string,
  given: string[],
  part: string,
  path = "filter",
): Condition {
  const known = Object.hasOwn(fields, field) ? fields[field]! : null
  if (!known) throw bad(part, `names an unknown field: the fields of this list are ${Object.keys(fields).join(", ")}`, path)
  if (!known.operators.includes(operator as FilterOperator))
    throw bad(part, `has an operator that ${field} does not have: it has ${known.operators.join(", ")}`, path)
  if (given.length > schemaLimits.filterValues)
    throw bad(`${field}:${operator}`, `has ${given.length} values: at most ${schemaLimits.filterValues} are allowed`, path)
  const values = given.map((text) => {
    const value = text === "" ? null : known.read(text)
    if (value === null) throw bad(part, `has an invalid value: it must be ${known.expects}`, path)
    return value
  })
  if (operator === "between" && values.length !== 2) throw bad(part, "is invalid: between takes two values", path)
  if (operator === "between" && (values[0] as string | number) > (values[1] as string | number))
    throw bad(part, "is reversed: the first value of between must not be after the second", path)
  return { field, operator: operator as FilterOperator, values }
}

/** Formats conditions as text that parses to the same conditions. */
export const formatFilter = (conditions: Condition[]) =>
  conditions
    .map(({ field, operator, values }) => `${field}:${operator}:${values.map((value) => escaped(String(value))).join(",")}`)
    .join(";")

const escaped = (value: string) => value.replace(/[;,\\]/g, (character) => `\\${character}`)

/** Accepts one of a list of words. */
export const wordOf = (list: readonly string[]) => (text: string) => (list.includes(text) ? text : null)

/** Accepts an ID, or one of the given words. */
export const idOr =
  (...words: string[]) =>
  (text: string) =>
    words.includes(text) ? text : isUuid(text) ? text.toLowerCase() : null

/** Accepts `true` or `false`. */
export const truth: ValueReader = (text) => (text === "true" ? true : text === "false" ? false : null)

/** Accepts a day in UTC, YYYY-MM-DD; kept as text, which sorts by time. */
export const day: ValueReader = (text) => {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null
  return date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null
}

/** Accepts a whole number, 0 or more. */
export const count: ValueReader = (text) => (/^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null)

/** Accepts any text. */
export const text: ValueReader = (value) => value

/** Escapes the wildcards of a text for LIKE. */
export const literal = (value: string) => value.replace(/[\\%_]/g, (character) => `\\${character}`)

/** The start of the following day. */
export const dayAfter = (date: string) => new Date(Date.parse(`${date}T00:00:00Z`) + 24 * 60 * 60 * 1000)
