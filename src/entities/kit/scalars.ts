import { GraphQLScalarType, Kind, type ValueNode } from "graphql"
import { GraphQLJSON } from "graphql-scalars"
import { GraphQLUpload } from "graphql-upload-minimal"
import { BadUserInput } from "../../errors/errors.js"

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
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc9562",
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
export const DateTime = new GraphQLScalarType({
  name: "DateTime",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
  description: "A point in time: ISO 8601 in UTC with milliseconds, for example 2026-01-31T09:15:00.123Z.",
  serialize: (value) => (typeof value === "string" ? isoText(value) : (value as Date).toISOString()),
  ...fromString("DateTime", (value) => {
    const date = typeof value === "string" && isoPattern.test(value) ? new Date(value) : undefined
    if (!date || Number.isNaN(date.getTime())) throw new BadUserInput("must be an ISO 8601 timestamp with a time zone")
    return date
  }),
})

/** Number of Unicode code points; every length limit counts them. */
export const codePoints = (text: string) => Array.from(text).length

/** How long a text may be, in Unicode code points. The schema shows a text as String, with its length beside it. */
export interface TextLength {
  min: number
  max: number
  isTrimmed: boolean
}

/** Whether a text has at most so many code points; it has at least half as many as UTF-16 units. */
const isWithin = (text: string, max: number) => text.length <= max || (text.length <= 2 * max && codePoints(text) <= max)

const texts = new Map<string, GraphQLScalarType>()

/**
 * A string that is trimmed and then limited in Unicode code points; one scalar per pair of limits. An unpaired surrogate, which PostgreSQL
 * cannot store, becomes U+FFFD.
 * @example Trimmed({ max: limits.chatTagName })
 */
export function Trimmed({ min = 1, max }: { min?: number; max: number }): GraphQLScalarType {
  const name = `Text${min}to${max}`
  const known = texts.get(name)
  if (known) return known
  const scalar = new GraphQLScalarType({
    name,
    extensions: {
      jsonSchema: { type: "string", minLength: min, maxLength: max },
      length: { min, max, isTrimmed: true } satisfies TextLength,
    },
    serialize: (value) => value,
    ...fromString(name, (value) => {
      if (typeof value !== "string") throw new BadUserInput("must be a string")
      const text = value.trim().toWellFormed()
      if (text.length < min || !isWithin(text, max)) throw new BadUserInput(`must be ${min} to ${max} characters`)
      return text
    }),
  })
  texts.set(name, scalar)
  return scalar
}

/** A string that is limited in Unicode code points and otherwise stored unchanged (messages, prompts, knowledge). */
export function Verbatim(max: number): GraphQLScalarType {
  const name = `TextUpTo${max}`
  const known = texts.get(name)
  if (known) return known
  const scalar = new GraphQLScalarType({
    name,
    extensions: { jsonSchema: { type: "string", maxLength: max }, length: { min: 0, max, isTrimmed: false } satisfies TextLength },
    serialize: (value) => value,
    ...fromString(name, (value) => {
      if (typeof value !== "string") throw new BadUserInput("must be a string")
      if (!isWithin(value, max)) throw new BadUserInput(`must be at most ${max} characters`)
      return value.toWellFormed()
    }),
  })
  texts.set(name, scalar)
  return scalar
}

/** A color: #rgb or #rrggbb, stored in lower case. */
export const HexColor = new GraphQLScalarType({
  name: "HexColor",
  specifiedByURL: "https://www.w3.org/TR/css-color-4/#hex-notation",
  description: "A color, #rgb or #rrggbb, stored in lower case.",
  extensions: { jsonSchema: { type: "string", pattern: "^\\s*#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})\\s*$" } },
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
  specifiedByURL: "https://www.itu.int/rec/T-REC-E.164",
  description: "A telephone number with its country code, for example +380 (44) 123-45-67. It is stored and returned in E.164 format.",
  serialize: (value) => value,
  ...fromString("PhoneNumber", (value) => {
    const number = typeof value === "string" ? value.replace(/[\s()[\]\p{Dash}]/gu, "") : ""
    if (!/^\+[1-9]\d{6,14}$/.test(number)) throw new BadUserInput("must be a telephone number with its country code, such as +380441234567")
    return number
  }),
})

/** A file of a multipart request. */
export const UploadedFile = new GraphQLScalarType({
  ...GraphQLUpload.toConfig(),
  specifiedByURL: "https://github.com/jaydenseric/graphql-multipart-request-spec",
})

/** Any JSON value, passed through unchanged; for event payloads and tool arguments. */
export const JSONValue = GraphQLJSON
