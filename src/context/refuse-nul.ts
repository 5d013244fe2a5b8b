import { BadUserInput } from "../errors/errors.js"
import { contextLimits } from "./limits.js"

/** Throws when a text anywhere in a value holds U+0000, and when the value is nested more deeply than `inputDepth`. */
export function refuseUnstorable(value: unknown, path = "", depth = 0): void {
  if (typeof value === "string") {
    if (value.includes("\u0000"))
      throw new BadUserInput("A text must not contain NUL (U+0000)", path ? [{ path, message: "must not contain NUL (U+0000)" }] : [])
  } else if (value && typeof value === "object" && !(value instanceof Promise)) {
    if (depth > contextLimits.inputDepth) throw new BadUserInput(`The input is nested more than ${contextLimits.inputDepth} levels deep`)
    for (const [key, inner] of Object.entries(value)) {
      refuseUnstorable(key, path)
      refuseUnstorable(inner, path ? `${path}.${key}` : key, depth + 1)
    }
  }
}
