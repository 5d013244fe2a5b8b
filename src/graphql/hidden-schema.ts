import { type ExecutionResult, GraphQLError, NoSchemaIntrospectionCustomRule, specifiedRules } from "graphql"
import type { Run } from "./run.js"
import { TextLengthRule } from "./text-literals.js"

const rules = [...specifiedRules, TextLengthRule]
const rulesWithoutIntrospection = [...rules, NoSchemaIntrospectionCustomRule]

/** The rules of validation; for a server that hides its schema introspection is not valid. */
export const rulesOf = (hidesSchema: boolean) => (hidesSchema ? rulesWithoutIntrospection : rules)

/** Begins the names of the schema that graphql-js suggests at the end of a message about an unknown one. */
const suggestion = " Did you mean "

/** The same error without suggested names. */
export function withoutSuggestion(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, originalError, extensions } = error
  // Not with a regular expression, which could take minutes for a value that repeats these words.
  const end = message.endsWith("?") ? message.lastIndexOf(suggestion) : -1
  if (end < 0) return error
  return new GraphQLError(message.slice(0, end), { nodes, source, positions, path, originalError, extensions })
}

/** The same result without suggested names. */
export const withoutSuggestions = (result: ExecutionResult): ExecutionResult =>
  result.errors ? { ...result, errors: result.errors.map(withoutSuggestion) } : result

/** Runs an operation whose errors suggest no names: those of variables name values of enums and fields of inputs. */
export const runWithoutSuggestions =
  (run: Run): Run =>
  async (...given) =>
    withoutSuggestions(await run(...given))
