import type { CallVariables } from "../entities/call-row.js"
import { codePoints } from "../entities/kit/scalars.js"
import { storableText } from "../entities/kit/storable.js"
import { BadUserInput } from "../errors/errors.js"
import { callLimits } from "./limits.js"

const nameOf = /^(?!system__)[A-Za-z_][A-Za-z0-9_]{0,63}$/
const { variables: most, variableCharacters, variablesBytes } = callLimits

/** Why a variable cannot be used; null when it can. */
function faultOf(name: string, value: unknown): string | null {
  if (!nameOf.test(name)) return "must be a name of letters, digits and _, at most 64 characters, that does not begin with system__"
  if (value === null || typeof value === "number" || typeof value === "boolean") return null
  if (typeof value !== "string") return "must be a text, a number, a boolean or null"
  return codePoints(value) > variableCharacters ? `must be at most ${variableCharacters} characters` : null
}

/** The variables of a request; throws for what is none. */
export function readVariables(given: unknown): CallVariables {
  if (given == null) return {}
  const path = "dynamicVariables"
  if (typeof given !== "object" || Array.isArray(given))
    throw new BadUserInput(`${path} must be an object`, [{ path, message: "must be an object" }])
  const entries = Object.entries(given)
  const details = entries.flatMap(([name, value]) => {
    const message = faultOf(name, value)
    return message ? [{ path: `${path}.${name}`, message }] : []
  })
  if (entries.length > most) details.push({ path, message: `must be at most ${most}` })
  if (Buffer.byteLength(JSON.stringify(given)) > variablesBytes)
    details.push({ path, message: `must be at most ${variablesBytes} bytes of JSON` })
  if (details.length > 0) throw new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === "string" ? storableText(value) : value]))
}

/** The variables in the response of a webhook_init tool; null when the response is no object. What cannot be a variable is left out. */
export function variablesOfResponse(body: unknown): CallVariables | null {
  if (!body || typeof body !== "object" || Array.isArray(body)) return null
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name, value]) => faultOf(name, value) === null)
      .slice(0, most),
  )
}

const placeholder = /\{\{([^{}]*)\}\}/g

/** A text whose placeholders have their values; those without one are left as they are, and named. */
export function rendered(text: string, variables: CallVariables): { text: string; unresolved: string[] } {
  const unresolved: string[] = []
  const filled = text.replace(placeholder, (written, inner: string) => {
    const name = inner.trim()
    if (Object.hasOwn(variables, name)) return String(variables[name] ?? "")
    if (name) unresolved.push(name)
    return written
  })
  return { text: filled, unresolved }
}
