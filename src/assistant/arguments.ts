import { createContext, Script } from "node:vm"
import { Ajv, type Options, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { LRUCache } from "lru-cache"
import { isTooDeep } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"
import type { Detail } from "../errors.js"
import { assistantLimits } from "./limits.js"

type Schema = Record<string, unknown>

/** Draft 2020-12 is what nothing else says; older drafts are read as draft 7. Neither loads a schema from elsewhere, nor prints. */
const readers = { modern: Ajv2020, classic: Ajv }
const classicDrafts = ["draft-04", "draft-06", "draft-07"]
const readerOf = ({ $schema }: Schema) => readers[classicDrafts.some((draft) => String($schema).includes(draft)) ? "classic" : "modern"]

/** A schema without what says how to read it: its draft is known by then, and Ajv's own `$async` would make a check answer a promise. */
const bare = ({ $schema: _draft, $async: _async, ...schema }: Schema): Schema => schema

function ajvOf(reader: typeof Ajv | typeof Ajv2020, options: Options): Ajv {
  const ajv = new reader({ allErrors: true, strict: false, logger: false, ...options }) as Ajv
  ;(formats as unknown as (ajv: Ajv) => void)(ajv)
  return ajv
}

/** They hold the drafts' own schemas, which say what a schema is; they keep nothing of what is checked by them. */
const judges = new Map<typeof Ajv | typeof Ajv2020, Ajv>()

function judgeOf(reader: typeof Ajv | typeof Ajv2020): Ajv {
  const judge = judges.get(reader) ?? ajvOf(reader, {})
  if (!judges.has(reader)) judge.validateSchema({})
  judges.set(reader, judge)
  return judge
}

// Compiled per text, so that a tool that was changed is never checked by its old schema.
const validators = new LRUCache<string, ValidateFunction>({ max: assistantLimits.toolValidators })

/** The check of a tool's arguments. Each has an Ajv of its own: a shared one would remember every schema, and mix up their `$id`s. */
function validatorOf(params: Schema): ValidateFunction {
  const text = JSON.stringify(params)
  const known = validators.get(text)
  if (known) return known
  const validator = within(assistantLimits.toolParamsMs, () =>
    ajvOf(readerOf(params), { meta: false, validateSchema: false }).compile(bare(params)),
  )
  validators.set(text, validator)
  return validator
}

const room = createContext({ work: null as unknown })
const script = new Script("work()")

/**
 * Does something, but with no more than so much computing. Schemas are their owners', and what is checked by them is a model's: a pattern that
 * tracks back without end, or references that branch without end, stop here and hold up nobody else. (Only what a Script runs can be
 * stopped, with all that it calls.)
 */
function within<T>(ms: number, work: () => T): T {
  room["work"] = work
  const begin = computed()
  for (;;) {
    try {
      return script.runInContext(room, { timeout: ms }) as T
    } catch (error) {
      // The clock on the wall goes on while a busy machine does something else: that is not held against it.
      if (!isStopped(error) || computed() - begin > ms / 2) throw error
    }
  }
}

/** Milliseconds of the processor's time that this thread has used. */
function computed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const isStopped = (error: unknown) => (error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

/** Whether a check did not come to its end: it was stopped, or went round in circles. */
const isEndless = (error: unknown) => isStopped(error) || (error as Error).name === "RangeError"

const tooDeep = `must be nested at most ${entityLimits.jsonDepth} levels deep`

/** What is wrong with a tool's `params`; null when it is a JSON Schema of type object. */
export function faultOfParams(params: unknown): string | null {
  if (!params || typeof params !== "object" || Array.isArray(params)) return "must be a JSON Schema of type object"
  const schema = params as Schema
  if (schema["type"] !== "object") return 'must be a JSON Schema of type object: its "type" must be "object"'
  if (isTooDeep(schema)) return tooDeep
  if (Buffer.byteLength(JSON.stringify(schema)) > assistantLimits.toolParamsBytes)
    return `must be at most ${assistantLimits.toolParamsBytes} bytes of JSON`
  const judge = judgeOf(readerOf(schema))
  try {
    if (!within(assistantLimits.toolParamsMs, () => judge.validateSchema(bare(schema))))
      return `is no valid JSON Schema: ${judge.errorsText()}`
    validatorOf(schema)
    return null
  } catch (error) {
    return isEndless(error) ? "is too complex to be checked" : `is no valid JSON Schema: ${(error as Error).message}`
  }
}

/** What is wrong with the arguments of a call, by path; empty when they fit. */
export function faultsOfArguments(params: Schema, args: unknown): Detail[] {
  if (isTooDeep(args)) return [{ path: "params", message: tooDeep }]
  try {
    const validate = validatorOf(params)
    if (within(assistantLimits.toolArgumentsMs, () => validate(args))) return []
    return (validate.errors ?? []).slice(0, assistantLimits.toolArgumentFaults).map((error) => ({
      path: ["params", ...partsOf(error.instancePath), ...namedIn(error.params)].join("."),
      message: error.message ?? "does not fit",
    }))
  } catch (error) {
    if (!isEndless(error)) throw error
    return [{ path: "params", message: "cannot be checked: the tool's own params, or a pattern in them, take too long on it" }]
  }
}

/** The parts of a JSON Pointer. */
const partsOf = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

/** The property that is missing or too much, which stands beside its place. */
const namedIn = ({ missingProperty, additionalProperty, unevaluatedProperty }: Record<string, unknown>) =>
  [missingProperty, additionalProperty, unevaluatedProperty].filter((name) => typeof name === "string")
