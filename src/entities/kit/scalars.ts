import { GraphQLScalarType, Kind, type ValueNode } from "graphql"
import { GraphQLJSON } from "graphql-scalars"
import { BadUserInput } from "../../errors.js"

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text has the form of a UUID, in any case. */
export const isUuid = (text: unknown): text is string => typeof text === "string" && uuidPattern.test(text)

const fromString = (name: string, parse: (value: unknown) => unknown) => ({
  parseValue: parse,
  parseLiteral(node: ValueNode) {
    if (node.kind !== Kind.STRING) throw new BadUserInput(`${name} must be a string`)
    return parse(node.value)
  },
})

/** An ID: accepted in any case, stored and returned in lower case. */
export const UUID = new GraphQLScalarType({
  name: "UUID",
  description: "A UUID, accepted in any case and returned in lower case.",
  serialize: (value) => value,
  ...fromString("UUID", (value) => {
    if (!isUuid(value)) throw new BadUserInput("must be a UUID")
    return value.toLowerCase()
  }),
})

/** Converts PostgreSQL's text of a timestamp to ISO 8601; in UTC without a Date, because lists contain many timestamps. */
function isoText(text: string): string {
  const zone = text.endsWith("+00") ? 3 : text.endsWith("+00:00") ? 6 : 0
  if (zone === 0 || text.length < 19 + zone) return new Date(text).toISOString()
  if (text.length >= 23 + zone) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  const milliseconds = text.slice(20, -zone).padEnd(3, "0").slice(0, 3)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
}

/** PostgreSQL has no year 0. */
const isoPattern = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** A point in time: a Date in the process, text in event payloads, and ISO 8601 in UTC with milliseconds on the wire. */
export const Timestamp = new GraphQLScalarType({
  name: "Timestamp",
  description: "A point in time: ISO 8601 in UTC with milliseconds, for example 2026-01-31T09:15:00.123Z.",
  serialize: (value) => (typeof value === "string" ? isoText(value) : (value as Date).toISOString()),
  ...fromString("Timestamp", (value) => {
    const date = typeof value === "string" && isoPattern.test(value) ? new Date(value) : undefined
    if (!date || Number.isNaN(date.getTime())) throw new BadUserInput("must be an ISO 8601 timestamp with a time zone")
    return date
  }),
})

/** Number of Unicode code points; every length limit counts them. */
export const codePoints = (text: string) => Array.from(text).length

const trimmedNames = new Map<string, GraphQLScalarType>()

/**
 * A string that is trimmed and then limited in Unicode code points; one scalar per pair of limits. An unpaired surrogate, which PostgreSQL
 * cannot store, becomes U+FFFD.
 * @example Trimmed({ max: limits.chatTagName })
 */
export function Trimmed({ min = 1, max }: { min?: number; max: number }): GraphQLScalarType {
  const name = `Text${min}to${max}`
  const known = trimmedNames.get(name)
  if (known) return known
  const scalar = new GraphQLScalarType({
    name,
    description: `A string of ${min} to ${max} characters (Unicode code points) after white space is trimmed from both ends.`,
    extensions: { jsonSchema: { type: "string", minLength: min, maxLength: max } },
    serialize: (value) => value,
    ...fromString(name, (value) => {
      if (typeof value !== "string") throw new BadUserInput("must be a string")
      const text = value.trim().toWellFormed()
      const length = codePoints(text)
      if (length < min || length > max) throw new BadUserInput(`must be ${min} to ${max} characters`)
      return text
    }),
  })
  trimmedNames.set(name, scalar)
  return scalar
}

/** A string that is limited in Unicode code points and otherwise stored unchanged (messages, prompts, knowledge). */
export function Verbatim(max: number): GraphQLScalarType {
  const name = `TextUpTo${max}`
  const known = trimmedNames.get(name)
  if (known) return known
  const scalar = new GraphQLScalarType({
    name,
    description: `A string of at most ${max} characters (Unicode code points), stored unchanged.`,
    extensions: { jsonSchema: { type: "string", maxLength: max } },
    serialize: (value) => value,
    ...fromString(name, (value) => {
      if (typeof value !== "string") throw new BadUserInput("must be a string")
      if (codePoints(value) > max) throw new BadUserInput(`must be at most ${max} characters`)
      return value.toWellFormed()
    }),
  })
  trimmedNames.set(name, scalar)
  return scalar
}

/** A color: #rgb or #rrggbb, stored in lower case. */
export const HexColor = new GraphQLScalarType({
  name: "HexColor",
  description: "A color, #rgb or #rrggbb, stored in lower case.",
  extensions: { jsonSchema: { type: "string", pattern: "^#([0-9a-f]{3}|[0-9a-f]{6})$" } },
  serialize: (value) => value,
  ...fromString("HexColor", (value) => {
    const color = typeof value === "string" ? value.trim().toLowerCase() : ""
    if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/.test(color)) throw new BadUserInput("must be a hex color, #rgb or #rrggbb")
    return color
  }),
})

/** A telephone number, stored in E.164 format: without spaces, dashes and brackets. */
export const PhoneNumber = new GraphQLScalarType({
  name: "PhoneNumber",
  description: "A telephone number with its country code, for example +380 (44) 123-45-67. It is stored and returned in E.164 format.",
  serialize: (value) => value,
  ...fromString("PhoneNumber", (value) => {
    const number = typeof value === "string" ? value.replace(/[\s()[\]\p{Dash}]/gu, "") : ""
    if (!/^\+[1-9]\d{6,14}$/.test(number)) throw new BadUserInput("must be a telephone number with its country code, such as +380441234567")
    return number
  }),
})

/** Any JSON value, passed through unchanged; for event payloads and tool arguments. */
export const JSONValue = GraphQLJSON
