import { Ajv, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { LRUCache } from "lru-cache"
import type { Detail } from "../errors.js"
import { limits } from "../limits.js"

type Schema = Record<string, unknown>

/** Draft 2020-12 is what nothing else says; older drafts are read as draft 7. Neither loads a schema from elsewhere. */
const options = { allErrors: true, strict: false, validateFormats: true, addUsedSchema: false } as const
const readers = { modern: new Ajv2020(options), classic: new Ajv(options) }
for (const reader of Object.values(readers)) (formats as unknown as (ajv: Ajv) => void)(reader as Ajv)

const classicDrafts = ["draft-04", "draft-06", "draft-07"]

// Compiled per text, so that a tool that was changed is never checked by its old schema.
const validators = new LRUCache<string, ValidateFunction>({ max: limits.toolValidators })

function validatorOf(params: Schema): ValidateFunction {
  const text = JSON.stringify(params)
  const known = validators.get(text)
  if (known) return known
  const { $schema, $id: _named, ...schema } = params
  const isClassic = classicDrafts.some((draft) => String($schema).includes(draft))
  const validator = (isClassic ? readers.classic : readers.modern).compile(schema)
  validators.set(text, validator)
  return validator
}

/** What is wrong with a tool's `params`; null when it is a JSON Schema of type object that can be checked safely. */
export function faultOfParams(params: unknown): string | null {
  if (!params || typeof params !== "object" || Array.isArray(params)) return "must be a JSON Schema of type object"
  if ((params as Schema)["type"] !== "object") return 'must be a JSON Schema of type object: its "type" must be "object"'
  if (Buffer.byteLength(JSON.stringify(params)) > limits.toolParamsBytes) return `must be at most ${limits.toolParamsBytes} bytes of JSON`
  const forbidden = forbiddenIn(params as Schema)
  if (forbidden) return forbidden
  try {
    validatorOf(params as Schema)
    return null
  } catch (error) {
    return `is no valid JSON Schema: ${(error as Error).message}`
  }
}

/** Patterns are run over what a model says: they must be ones that cannot be slow. References stay inside the schema. */
function forbiddenIn(schema: unknown): string | null {
  if (!schema || typeof schema !== "object") return null
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$ref" && typeof value === "string" && !value.startsWith("#"))
      return `must not refer to ${value}: only to its own parts (#/…)`
    if (key === "pattern" && typeof value === "string" && isSlow(value)) return `has a pattern that can take too long: ${value}`
    if (key === "patternProperties" && value && typeof value === "object") {
      const slow = Object.keys(value).find(isSlow)
      if (slow) return `has a pattern that can take too long: ${slow}`
    }
    const inner = forbiddenIn(value)
    if (inner) return inner
  }
  return null
}

/** A repetition of something that repeats, or of alternatives, and a back reference, can take exponential time. */
const isSlow = (pattern: string) => /(?:[+*}]\??|\|[^()]*)\)(?:[+*]|\{\d*,)/.test(pattern) || /\\[1-9k]/.test(pattern)

/** What is wrong with the arguments of a call, by path; empty when they fit. */
export function faultsOfArguments(params: Schema, args: unknown): Detail[] {
  const validate = validatorOf(params)
  if (validate(args)) return []
  return (validate.errors ?? []).slice(0, limits.toolArgumentFaults).map((error) => ({
    path: ["params", ...error.instancePath.split("/").slice(1), ...(missingOf(error.params) ?? [])].join("."),
    message: error.message ?? "does not fit",
  }))
}

const missingOf = (params: Record<string, unknown>) => (typeof params["missingProperty"] === "string" ? [params["missingProperty"]] : null)
