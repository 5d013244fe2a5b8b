import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
} from "graphql"
import { compileQuery, isCompiledQuery } from "graphql-jit"
import { timed } from "../observability/longest-turns.js"
import { compilable } from "./compilable.js"
import { graphqlLimits } from "./limits.js"
import type { Variables } from "./operation-cost.js"

type MaybePromise<T> = T | Promise<T>

/** Runs an operation with its variables; returns synchronously when all its resolvers do. */
export type Run = (context: unknown, variables: Variables, root?: unknown) => MaybePromise<ExecutionResult>

/** Returns the function that runs a valid operation by graphql-js. */
const interpretedRunOf = (schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Run => {
  const operationName = operation.name?.value
  return (contextValue, variableValues, rootValue) => execute({ schema, document, operationName, contextValue, variableValues, rootValue })
}

/**
 * The same as `runOf()`, which compiles the operation only when it has run a few times: to compile costs as much as many runs, blocks other
 * requests meanwhile, and a client may send operations without end that are never repeated. `compiled` gets the number of compiled fields.
 */
export function runLaterCompiled(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  compiled: (fields: number) => void,
): Run {
  let run = interpretedRunOf(schema, document, operation)
  let runs = 0
  return (context, variables, root) => {
    if (runs === graphqlLimits.interpretedRuns) run = runOf(schema, document, operation, compiled)
    runs += 1
    return run(context, variables, root)
  }
}

/** The same as `runOf()`, which compiles the operation at its first run: of the operations of a server's own, a process runs only some. */
export function runFirstCompiled(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Run {
  let run: Run | null = null
  return (context, variables, root) => {
    run ??= runOf(schema, document, operation)
    return run(context, variables, root)
  }
}

/** Returns the function that runs a valid operation: compiled by graphql-jit, or graphql-js where the results would differ. */
export function runOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  compiled?: (fields: number) => void,
): Run {
  const interpreted = interpretedRunOf(schema, document, operation)
  const { rewritten, query } = timed("compile", () => compiledFrom(schema, document, operation))
  if (!rewritten || !query || !isCompiledQuery(query)) return interpreted
  compiled?.(rewritten.fields)
  const needed = [...rewritten.needed]
  const lacksRequiredVariable = (variables: Variables) =>
    needed.some(([name, hasDefault]) => variables[name] === null || (!hasDefault && variables[name] === undefined))
  const finished = (result: ExecutionResult, context: unknown, variables: Variables, root: unknown): MaybePromise<ExecutionResult> => {
    if (!result.errors) return result
    // Without data nothing has run, because the compiler refused the variables: graphql-js reports the error, or accepts them.
    if (!("data" in result)) return interpreted(context, variables, root)
    return { ...result, errors: result.errors.map(asGraphQLError) }
  }
  const finishedLater = async (result: Promise<ExecutionResult>, context: unknown, variables: Variables, root: unknown) =>
    finished(await result, context, variables, root)
  return (context, variables, root = {}) => {
    if (needed.length > 0 && lacksRequiredVariable(variables)) return interpreted(context, variables, root)
    const result: MaybePromise<ExecutionResult> = query.query(root, context, variables)
    return result instanceof Promise ? finishedLater(result, context, variables, root) : finished(result, context, variables, root)
  }
}

function compiledFrom(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
  const rewritten = compilable(schema, document, operation)
  return { rewritten, query: rewritten && compileQuery(schema, rewritten.document, "", { disablingCapturingStackErrors: true }) }
}

/** Converts the compiler's errors to those of graphql-js. */
function asGraphQLError({ message, locations, path, originalError }: GraphQLError): GraphQLError {
  const error = originalError ? locatedError(originalError, undefined, path) : new GraphQLError(message, { path })
  return error.locations ? error : Object.defineProperty(error, "locations", { value: locations, enumerable: true })
}
