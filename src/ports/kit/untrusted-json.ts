/** Reads parsed JSON whose form is not known: every function takes any value and none throws. */
export type JsonObject = Readonly<Record<string, unknown>>

/** An object; empty when the value is none. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** The objects of an array; empty when the value is none. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

/** A string that is not empty; null for anything else. */
export function stringOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null
}

/** An ID, which may have been sent as a number; null for anything else. */
export function idOf(value: unknown): string | null {
  return Number.isSafeInteger(value) ? String(value) : stringOf(value)
}

/** A number, also one that was sent as a string of digits; null for anything else. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : null
}
