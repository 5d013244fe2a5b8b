import type { ValidateFunction } from "ajv"
import { LRUCache } from "lru-cache"
import type { Detail } from "../errors/errors.js"
import { performTasks } from "../ports/kit/task-program.js"
import { assistantLimits } from "./limits.js"
import { compile, detailsOf, faultOfSchema } from "./schema-compiler.js"
import { isExponential, loadAnalysis, needsAnalysis } from "./schema-patterns.js"
import type { Answer, Task } from "./schema-processes.js"

/** The program of a schema process: compiles and validates what it receives. */
function faultsOf(task: Task): Detail[] {
  if (task.kind === "load") return []
  if (task.kind === "arguments") return faultsOfArguments(task.params, task.args)
  const fault = faultOfParams(task.params)
  return fault ? [{ path: "params", message: fault }] : []
}

function faultOfParams(text: string): string | null {
  const schema = JSON.parse(text)
  try {
    const fault = faultOfSchema(schema)
    if (fault) return fault
    const patterns = new Set<string>()
    compile(schema, { allErrors: true, onPattern: (pattern) => patterns.add(pattern) })
    const unsafe = [...patterns].find(isExponential)
    return unsafe === undefined ? null : `has a pattern whose cost is exponential: ${unsafe}`
  } catch (error) {
    return error instanceof RangeError ? "is too complex to be checked" : `is no valid JSON Schema: ${(error as Error).message}`
  }
}

// Cached by the schema's text, so that a changed tool is never checked by its old schema.
const validators = new LRUCache<string, ValidateFunction>({
  max: assistantLimits.toolValidators,
  // Without it the schemas of one company could fill the process, whose next task, of any company, would end it.
  maxSize: assistantLimits.toolValidatorsCharacters,
  sizeCalculation: (_validate, text) => text.length + assistantLimits.toolValidatorCharacters,
})

function faultsOfArguments(text: string, args: unknown): Detail[] {
  try {
    const validate = validators.get(text) ?? compile(JSON.parse(text), { allErrors: true })
    validators.set(text, validate)
    return validate(args) ? [] : detailsOf(validate.errors)
  } catch (error) {
    const reason = error instanceof RangeError ? "the tool's own params never end on it" : (error as Error).message
    return [{ path: "params", message: `cannot be checked: ${reason}` }]
  }
}

function perform(task: Task): Answer {
  const before = process.cpuUsage()
  const faults = faultsOf(task)
  const { user, system } = process.cpuUsage(before)
  return { faults, ms: (user + system) / 1000 }
}

function prepare(task: Task) {
  if (task.kind === "load" ? task.analysis : task.kind === "params" && needsAnalysis(task.params)) loadAnalysis()
}

// Compiles the meta-schema before the first task, whose time is limited.
faultOfSchema({})
performTasks({ prepare, perform })
