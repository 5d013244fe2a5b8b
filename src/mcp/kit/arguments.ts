import type { Detail } from "../../errors/errors.js"
import { checkInput, refuseDetails } from "../../rest/kit/check-input.js"
import { mcpLimits } from "../limits.js"
import { keyVariable, type Tool } from "./tool.js"

/** Key of `_meta` of a call for the idempotency key, named like the header of REST. */
const idempotencyMeta = "Idempotency-Key"

/** A name that a client has sent, cut to a length that an error may have. */
export const shownName = (name: string): string => name.slice(0, mcpLimits.shownNameCharacters)

/** The variables of a call; null for an argument that may be left out leaves it out. Throws one BadUserInput with all errors. */
export function variablesOf(tool: Tool, given: Record<string, unknown>, meta: Record<string, unknown> = {}): Record<string, unknown> {
  const { variables } = tool.operation
  const names = [...variables.keys()].filter((name) => name !== keyVariable)
  const details: Detail[] = []
  // One is enough: a request may have very many.
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    details.push({ path: shownName(unknown), message: `is not an argument of ${tool.name}, whose arguments are ${names.join(", ")}` })
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const { type, required } = variables.get(name)!
    const isLeftOut = given[name] === null && !required && !tool.nullable?.includes(name)
    if (Object.hasOwn(given, name) && !isLeftOut) values[name] = given[name]
    if (values[name] !== undefined || required) checkInput(values[name], type, name, details)
  }
  const key = Object.hasOwn(meta, idempotencyMeta) ? meta[idempotencyMeta] : undefined
  if (variables.has(keyVariable) && key != null) {
    if (typeof key === "string") values[keyVariable] = key
    else details.push({ path: `_meta.${idempotencyMeta}`, message: "must be a string" })
  }
  refuseDetails(details)
  return values
}
