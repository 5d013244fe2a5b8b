import { isUuid } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors.js"

/** The operators of the filter grammar (specification, Calls). */
export type FilterOperator = "eq" | "in" | "like" | "startsWith" | "gte" | "lte" | "between"

/** Reads one value of a field; null when it is none. */
export type ValueReader = (text: string) => unknown | null

/** A field that can be filtered by: its operators, and how its values are read. */
export interface FilterField {
  operators: FilterOperator[]
  read: ValueReader
  /** What a value must be, in words. */
  expects: string
}

/** A condition: one value for most operators, a list for `in`, two values for `between`. */
export interface Condition {
  field: string
  operator: FilterOperator
  values: unknown[]
}

const bad = (part: string, why: string, path = "filter") =>
  new BadUserInput(`${path}: "${part}" ${why}`, [{ path, message: `"${part}" ${why}` }])

/** Splits at a separator that is not escaped; the escapes stay for the next split. */
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

/** Takes the escapes off a value; only what has a meaning can be escaped. */
function unescaped(value: string, part: string): string {
  return value.replace(/\\(.?)/gs, (_all, character: string) => {
    if (character === "") throw bad(part, "ends in the middle of an escape")
    if (!";,\\".includes(character)) throw bad(part, `escapes "${character}", which has no meaning`)
    return character
  })
}

const severalValues: FilterOperator[] = ["in", "between"]

/** Parses `field:op:value;…` (contract, section 4); whatever is wrong is a bad input that names the offending part. */
export function parseFilter(fields: Record<string, FilterField>, text: string): Condition[] {
  return split(text, ";").map((part) => {
    if (part === "") throw bad(part, "is empty: conditions are separated by one ;")
    const [, field = "", operator = "", value] = /^([^:]*):([^:]*):(.*)$/s.exec(part) ?? []
    if (value === undefined) throw bad(part, "is no condition of the form field:op:value")
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

/** Reads a typed `where`, `{ field: { op: value } }`, into the same conditions. */
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
  if (!known) throw bad(part, `names no field of this list; it has ${Object.keys(fields).join(", ")}`, path)
  if (!known.operators.includes(operator as FilterOperator)) throw bad(part, `is wrong: ${field} takes ${known.operators.join(", ")}`, path)
  const values = given.map((text) => {
    const value = text === "" ? null : known.read(text)
    if (value === null) throw bad(part, `is wrong: a value must be ${known.expects}`, path)
    return value
  })
  if (operator === "between" && values.length !== 2) throw bad(part, "is wrong: between takes two values", path)
  if (operator === "between" && (values[0] as string | number) > (values[1] as string | number))
    throw bad(part, "goes from the later to the earlier", path)
  return { field, operator: operator as FilterOperator, values }
}

/** Writes conditions as the text they can be parsed from. */
export const formatFilter = (conditions: Condition[]) =>
  conditions
    .map(({ field, operator, values }) => `${field}:${operator}:${values.map((value) => escaped(String(value))).join(",")}`)
    .join(";")

const escaped = (value: string) => value.replace(/[;,\\]/g, (character) => `\\${character}`)

/** One of a list of words. */
export const wordOf = (list: readonly string[]) => (text: string) => (list.includes(text) ? text : null)

/** An id, or one of the words that stand for one. */
export const idOr =
  (...words: string[]) =>
  (text: string) =>
    words.includes(text) ? text : isUuid(text) ? text.toLowerCase() : null

/** `true` or `false`. */
export const truth: ValueReader = (text) => (text === "true" ? true : text === "false" ? false : null)

/** A whole day in UTC, YYYY-MM-DD; kept as text, which sorts by time. */
export const day: ValueReader = (text) => {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null
  return date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null
}

/** Any text. */
export const text: ValueReader = (value) => value

/** A text as it stands literally in LIKE. */
export const literal = (value: string) => value.replace(/[\\%_]/g, (character) => `\\${character}`)

/** The first moment after a day. */
export const dayAfter = (date: string) => new Date(Date.parse(`${date}T00:00:00Z`) + 24 * 60 * 60 * 1000)
