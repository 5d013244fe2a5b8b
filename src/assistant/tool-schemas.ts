import { hash } from "node:crypto"
import type { ValidateFunction } from "ajv"
import { LRUCache } from "lru-cache"
import type { Logger } from "pino"
import { isTooDeep } from "../entities/kit/storable.js"
import type { Detail } from "../errors/errors.js"
import { assistantLimits } from "./limits.js"
import { faultOfBounds, type Schema, sizeOf, tooDeep, weightOfPlain } from "./schema-bounds.js"
import { bare, compile, detailsOf } from "./schema-compiler.js"
import { SchemaProcesses, TaskStopped } from "./schema-processes.js"

declare module "../context/services.js" {
  interface Services {
    /** Checks the `params` of tools, and arguments against them. */
    toolSchemas: ToolSchemas
  }
}

/** A validator that runs in this process; null for `params` that are not plain. */
type Plain = { validate: ValidateFunction; weight: number } | { validate: null }

/** Checks the `params` of tools, which are JSON Schemas of customers, and the arguments of calls, which are a model's. */
export class ToolSchemas {
  readonly #processes: SchemaProcesses
  readonly #results = new LRUCache<string, { fault: string | null }>({ max: assistantLimits.toolParamsResults })
  // Cached by the schema's text, so that a changed tool is never checked by its old schema.
  readonly #plain = new LRUCache<string, Plain>({ max: assistantLimits.toolValidators })

  constructor(log: Logger, budgetMs: number = assistantLimits.schemaBudgetMs) {
    this.#processes = new SchemaProcesses(log, budgetMs)
  }

  close(): Promise<void> {
    return this.#processes.close()
  }

  /** The fault of a tool's `params` as a sentence; null when they are a JSON Schema of type object. `companyOf` says who pays for the check. */
  async faultOfParams(params: unknown, companyOf: () => Promise<string>): Promise<string | null> {
    if (!params || typeof params !== "object" || Array.isArray(params)) return "must be a JSON Schema of type object"
    const schema = params as Schema
    if (schema["type"] !== "object") return 'must be a JSON Schema of type object: its "type" must be "object"'
    const fault = faultOfBounds(schema)
    if (fault) return fault
    const text = JSON.stringify(schema)
    const key = hash("sha256", text, "base64")
    const known = this.#results.get(key)
    if (known) return known.fault
    const result = await this.#compiled(await companyOf(), text)
    this.#results.set(key, { fault: result })
    return result
  }

  async #compiled(companyId: string, params: string): Promise<string | null> {
    try {
      const [fault] = await this.#processes.run(companyId, { kind: "params", params })
      return fault?.message ?? null
    } catch (error) {
      if (error instanceof TaskStopped) return `is too complex to be checked: it ${error.message}`
      throw error
    }
  }

  /** The faults of a call's arguments by path; empty when they match. Throws RateLimited when the company's budget is used up. */
  async faultsOfArguments(companyId: string, params: Schema, args: unknown): Promise<Detail[]> {
    if (isTooDeep(args)) return [{ path: "params", message: tooDeep }]
    const text = JSON.stringify(params)
    const plain = this.#plainOf(text, params)
    if (plain.validate && plain.weight * sizeOf(args, assistantLimits.plainWork) <= assistantLimits.plainWork)
      return plain.validate(args) ? [] : detailsOf(plain.validate.errors)
    try {
      return await this.#processes.run(companyId, { kind: "arguments", params: text, args })
    } catch (error) {
      if (!(error instanceof TaskStopped)) throw error
      return [{ path: "params", message: `cannot be checked: the tool's own params, or a pattern in them: it ${error.message}` }]
    }
  }

  #plainOf(text: string, params: Schema): Plain {
    if (text.length > assistantLimits.plainCharacters) return { validate: null }
    const known = this.#plain.get(text)
    if (known) return known
    const weight = weightOfPlain(bare(params))
    const isPlain = weight !== null && weight <= assistantLimits.plainWeight
    const plain = isPlain ? { validate: compile(params, { allErrors: true }), weight } : { validate: null }
    this.#plain.set(text, plain)
    return plain
  }
}
