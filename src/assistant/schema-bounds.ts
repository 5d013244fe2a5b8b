import { isTooDeep } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"
import { assistantLimits } from "./limits.js"

/** A JSON Schema as it was parsed. */
export type Schema = Record<string, unknown>

/** The error for a value that is nested too deeply. */
export const tooDeep = `must be nested at most ${entityLimits.jsonDepth} levels deep`

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Keywords whose value holds subschemas by name. */
const subschemasByName = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"])
/** Keywords whose value is data. */
const data = new Set(["enum", "const", "default", "example", "examples"])

/** The subschemas directly in a schema. An object under an unknown keyword is one too, because a `$ref` can refer to it. */
function subschemasOf(schema: object): unknown[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (!isObject(value) || data.has(keyword)) return []
    if (!Array.isArray(value) && !subschemasByName.has(keyword)) return [value]
    return Object.values(value).filter((inner) => isObject(inner) || typeof inner === "boolean")
  })
}

/** The first limit that a tool's `params` exceed, as a sentence, or null; `text` is their JSON. Compiles nothing. */
export function faultOfBounds(params: Schema): string | null {
  if (isTooDeep(params)) return tooDeep
  const { toolParamsBytes, toolParamsLevels, toolParamsSubschemas } = assistantLimits
  if (Buffer.byteLength(JSON.stringify(params)) > toolParamsBytes) return `must be at most ${toolParamsBytes} bytes of JSON`
  let count = 0
  const open: { schema: object; level: number }[] = [{ schema: params, level: 1 }]
  for (let at = open.pop(); at; at = open.pop())
    for (const inner of subschemasOf(at.schema)) {
      if (++count > toolParamsSubschemas) return `must have at most ${toolParamsSubschemas} subschemas`
      if (at.level >= toolParamsLevels) return `must have at most ${toolParamsLevels} levels of subschemas`
      if (isObject(inner)) open.push({ schema: inner, level: at.level + 1 })
    }
  return null
}

/** Keywords that are checked on the value itself in a time linear in its size, and annotations. */
const linear = new Set(
  "type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties title description $comment default example examples deprecated readOnly writeOnly".split(
    " ",
  ),
)
/** Formats whose check is linear; `test/assistant/tool-schemas.test.ts` analyses their patterns. */
export const linearFormats = ["date", "time", "date-time", "uuid", "ipv4", "email", "int32", "int64", "float", "double"]

/**
 * The number of keywords, properties and values of enums in a plain schema; null for any other schema. In a plain schema each value of the
 * arguments is checked by at most one subschema, and each keyword of that is linear: no reference, pattern, alternative or comparison of
 * items. The cost of a check is therefore at most this number times the size of the arguments.
 */
export function weightOfPlain(schema: Schema): number | null {
  let weight = 0
  const open: unknown[] = [schema]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at === "boolean") continue
    if (!isObject(at) || Array.isArray(at)) return null
    for (const [keyword, value] of Object.entries(at)) {
      weight += 1
      if (linear.has(keyword) || (keyword === "format" && linearFormats.includes(value))) continue
      if (keyword === "items" || keyword === "additionalProperties") open.push(value)
      else if (keyword === "properties" && isObject(value)) {
        open.push(...Object.values(value))
        weight += Object.keys(value).length
      } else if ((keyword === "required" || keyword === "enum") && Array.isArray(value) && !value.some(isObject)) weight += value.length
      else return null
    }
  }
  return weight
}

/** The number of values and property names in JSON, with long texts counted by their length; stops counting beyond `most`. */
export function sizeOf(json: unknown, most: number): number {
  let size = 0
  const open = [json]
  while (open.length > 0 && size <= most) {
    const value = open.pop()
    size += 1
    if (typeof value === "string") size += value.length / assistantLimits.plainStringCharacters
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        size += name.length / assistantLimits.plainStringCharacters
        open.push(inner)
      }
  }
  return size
}
