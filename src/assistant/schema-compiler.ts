import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import type { Detail } from "../errors/errors.js"
import { assistantLimits } from "./limits.js"
import type { Schema } from "./schema-bounds.js"

/** A schema without `$schema` is draft 2020-12; older drafts are read as draft 7. Neither loads remote schemas or writes to the console. */
const readers = { modern: Ajv2020, classic: Ajv }
const classicDrafts = ["draft-04", "draft-06", "draft-07"]
const readerOf = ({ $schema }: Schema) => readers[classicDrafts.some((draft) => String($schema).includes(draft)) ? "classic" : "modern"]

/** A schema without `$schema`, since its draft is known, and without Ajv's `$async`, which would make a check return a promise. */
export const bare = ({ $schema: _draft, $async: _async, ...schema }: Schema): Schema => schema

function ajvOf(reader: typeof Ajv | typeof Ajv2020, options: Options): Ajv {
  const ajv = new reader({ strict: false, logger: false, ...options }) as Ajv
  ;(formats as unknown as (ajv: Ajv) => void)(ajv)
  return ajv
}

/** Validators of schemas against the drafts' meta-schemas; they cache nothing. */
const metaValidators = new Map<typeof Ajv | typeof Ajv2020, Ajv>()

/** The faults of a schema against its draft's meta-schema, as a sentence; null when it is valid. */
export function faultOfSchema(schema: Schema): string | null {
  const reader = readerOf(schema)
  const judge = metaValidators.get(reader) ?? ajvOf(reader, { allErrors: true })
  metaValidators.set(reader, judge)
  if (judge.validateSchema(bare(schema))) return null
  return `is no valid JSON Schema: ${judge.errorsText(judge.errors?.slice(0, assistantLimits.toolArgumentFaults))}`
}

/**
 * The validator of a schema; `onPattern` receives each pattern that it uses. Each has its own Ajv: a shared one would keep every schema and
 * mix up their `$id`s. References are compiled once each instead of at each use (`inlineRefs`).
 */
export function compile(schema: Schema, options: { allErrors: boolean; onPattern?: (pattern: string) => void }): ValidateFunction {
  const { allErrors, onPattern } = options
  const makePattern = (pattern: string, flags: string) => {
    onPattern?.(pattern)
    return new RegExp(pattern, flags)
  }
  const regExp = Object.assign(makePattern, { code: "new RegExp" })
  const settings = { allErrors, meta: false, validateSchema: false, inlineRefs: false, code: { regExp } } as const
  return ajvOf(readerOf(schema), settings).compile(bare(schema))
}

/** Ajv's errors about arguments by path, the first ones only. */
export const detailsOf = (errors: readonly ErrorObject[] | null | undefined): Detail[] =>
  (errors ?? []).slice(0, assistantLimits.toolArgumentFaults).map((error) => ({
    path: ["params", ...partsOf(error.instancePath), ...namedIn(error.params)].join("."),
    message: error.message ?? "does not fit",
  }))

/** The parts of a JSON Pointer. */
const partsOf = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

/** The missing or unexpected property, which Ajv reports beside the path. */
const namedIn = ({ missingProperty, additionalProperty, unevaluatedProperty }: Record<string, unknown>) =>
  [missingProperty, additionalProperty, unevaluatedProperty].filter((name) => typeof name === "string")
