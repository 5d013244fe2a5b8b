import { JsonType } from "@mikro-orm/core"
import { entityLimits } from "../limits.js"

/** Removes what PostgreSQL cannot store in a text: NUL and unpaired surrogates. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed()

/** Removes what PostgreSQL cannot store in a JSON value and its property names; null when the value is nested too deeply. */
export function storableJson(value: unknown): unknown {
  return isTooDeep(value) ? null : copied(value)
}

/** Whether a JSON value is nested too deeply to be stored or validated. */
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

/** A JSON column for values from clients and vendors: every write removes what PostgreSQL cannot store. */
export class StorableJson extends JsonType {
  override convertToDatabaseValue(...[value, ...more]: Parameters<JsonType["convertToDatabaseValue"]>) {
    return super.convertToDatabaseValue(value == null ? value : storableJson(value), ...more)
  }
}
