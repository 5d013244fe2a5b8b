import { limits } from "../../limits.js"

/** A text as PostgreSQL can store it: without NUL and without halves of surrogate pairs. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed()

/** A JSON value as PostgreSQL can store it, names of properties too; null when it is nested too deeply to be written. */
export function storableJson(value: unknown): unknown {
  try {
    return copied(value, 0)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function copied(value: unknown, depth: number): unknown {
  if (depth > limits.jsonDepth) throw new RangeError("nested too deeply")
  if (typeof value === "string") return storableText(value)
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1))
  if (!value || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), copied(inner, depth + 1)]))
}
