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

/** A schema without `$schema` is draft 2020-12; older drafts are read as draft 7. Neither loads remote schemas or writes to the console. */
const readers = { modern: Ajv2020, classic: Ajv }
const classicDrafts = ["draft-04", "draft-06", "draft-07"]
const readerOf = ({ $schema }: Schema) => readers[classicDrafts.some((draft) => String($schema).includes(draft)) ? "classic" : "modern"]

/** A schema without `$schema`, since its draft is known, and without Ajv's `$async`, which would make a check return a promise. */
const bare = ({ $schema: _draft, $async: _async, ...schema }: Schema): Schema => schema

function ajvOf(reader: typeof Ajv | typeof Ajv2020, options: Options): Ajv {
  const ajv = new reader({ allErrors: true, strict: false, logger: false, ...options }) as Ajv
  ;(formats as unknown as (ajv: Ajv) => void)(ajv)
  return ajv
}

/** Validators of schemas against the drafts' meta-schemas; they cache nothing. */
const judges = new Map<typeof Ajv | typeof Ajv2020, Ajv>()

function judgeOf(reader: typeof Ajv | typeof Ajv2020): Ajv {
  const judge = judges.get(reader) ?? ajvOf(reader, {})
  if (!judges.has(reader)) judge.validateSchema({})
  judges.set(reader, judge)
  return judge
}

// Cached by the schema's text, so that a changed tool is never checked by its old schema.
const validators = new LRUCache<string, ValidateFunction>({ max: assistantLimits.toolValidators })

/** The validator of a tool's arguments. Each has its own Ajv: a shared one would keep every schema and mix up their `$id`s. */
function validatorOf(params: Schema): ValidateFunction {
  const text = JSON.stringify(params)
  const known = validators.get(text)
  if (known) return known
  const validator = limited(assistantLimits.toolParamsMs, () =>
    ajvOf(readerOf(params), { meta: false, validateSchema: false }).compile(bare(params)),
  )
  validators.set(text, validator)
  return validator
}

const room = createContext({ work: null as unknown })
const script = new Script("work()")

/**
 * Runs `work` within a budget of CPU time in milliseconds. Schemas are customers' and values are a model's: a pattern with catastrophic
 * backtracking, or references that branch without end, are stopped here. (Node can stop only what a vm.Script runs.)
 */
function limited<T>(ms: number, work: () => T): T {
  room["work"] = work
  const begin = computed()
  for (;;) {
    try {
      return script.runInContext(room, { timeout: ms }) as T
    } catch (error) {
      // Wall time also passes while a busy machine runs something else; only CPU time counts.
      if (!isStopped(error) || computed() - begin > ms / 2) throw error
    }
  }
}

/** CPU time of this thread in milliseconds. */
function computed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const isStopped = (error: unknown) => (error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

/** Whether a check did not finish: it was stopped, or its recursion overflowed the stack. */
const isEndless = (error: unknown) => isStopped(error) || (error as Error).name === "RangeError"

const tooDeep = `must be nested at most ${entityLimits.jsonDepth} levels deep`

/** The fault of a tool's `params` as a sentence; null when it is a JSON Schema of type object. */
export function faultOfParams(params: unknown): string | null {
  if (!params || typeof params !== "object" || Array.isArray(params)) return "must be a JSON Schema of type object"
  const schema = params as Schema
  if (schema["type"] !== "object") return 'must be a JSON Schema of type object: its "type" must be "object"'
  if (isTooDeep(schema)) return tooDeep
  if (Buffer.byteLength(JSON.stringify(schema)) > assistantLimits.toolParamsBytes)
    return `must be at most ${assistantLimits.toolParamsBytes} bytes of JSON`
  const judge = judgeOf(readerOf(schema))
  try {
    if (!limited(assistantLimits.toolParamsMs, () => judge.validateSchema(bare(schema))))
      return `is no valid JSON Schema: ${judge.errorsText()}`
    validatorOf(schema)
    return null
  } catch (error) {
    return isEndless(error) ? "is too complex to be checked" : `is no valid JSON Schema: ${(error as Error).message}`
  }
}

/** The faults of a call's arguments by path; empty when they match. */
export function faultsOfArguments(params: Schema, args: unknown): Detail[] {
  if (isTooDeep(args)) return [{ path: "params", message: tooDeep }]
  try {
    const validate = validatorOf(params)
    if (limited(assistantLimits.toolArgumentsMs, () => validate(args))) return []
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

/** The missing or unexpected property, which Ajv reports beside the path. */
const namedIn = ({ missingProperty, additionalProperty, unevaluatedProperty }: Record<string, unknown>) =>
  [missingProperty, additionalProperty, unevaluatedProperty].filter((name) => typeof name === "string")
