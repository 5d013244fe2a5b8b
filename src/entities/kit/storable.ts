import { JsonType } from "@mikro-orm/core"
import { entityLimits } from "../limits.js"

/** A text as PostgreSQL can store it: without NUL and without halves of surrogate pairs. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed()

/** A JSON value as PostgreSQL can store it, names of properties too; null when it is nested too deeply to be written. */
export function storableJson(value: unknown): unknown {
  return isTooDeep(value) ? null : copied(value)
}

/** Whether a JSON value is nested too deeply to be written or checked. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (!value || typeof value !== "object") return false
  return depth >= entityLimits.jsonDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1))
}

function copied(value: unknown): unknown {
  if (typeof value === "string") return storableText(value)
  if (Array.isArray(value)) return value.map(copied)
  if (!value || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), copied(inner)]))
}

/** A column of JSON that comes from outside: whoever writes it, what PostgreSQL cannot store is left out. */
export class StorableJson extends JsonType {
  override convertToDatabaseValue(...[value, ...more]: Parameters<JsonType["convertToDatabaseValue"]>) {
    return super.convertToDatabaseValue(value == null ? value : storableJson(value), ...more)
  }
}
