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
import { compilable } from "./compilable.js"
import type { Variables } from "./operation-limits.js"

type MaybePromise<T> = T | Promise<T>

/** Runs an operation with its variables on behalf of a context; at once where all its resolvers answer at once. */
export type Run = (context: unknown, variables: Variables, root?: unknown) => MaybePromise<ExecutionResult>

/** Makes what runs a valid operation: a function that graphql-jit compiles, or graphql-js where the two would answer differently. */
export function runOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Run {
  const operationName = operation.name?.value
  const interpreted: Run = (contextValue, variableValues, rootValue) =>
    execute({ schema, document, operationName, contextValue, variableValues, rootValue })
  const rewritten = compilable(schema, document, operation)
  const query = rewritten && compileQuery(schema, rewritten.document, "", { disablingCapturingStackErrors: true })
  if (!rewritten || !query || !isCompiledQuery(query)) return interpreted
  const needed = [...rewritten.needed]
  const isMissing = (variables: Variables) =>
    needed.some(([name, hasDefault]) => variables[name] === null || (!hasDefault && variables[name] === undefined))
  const finished = (result: ExecutionResult, context: unknown, variables: Variables, root: unknown): MaybePromise<ExecutionResult> => {
    if (!result.errors) return result
    // Without data nothing has run: the compiler refused the variables. graphql-js says why, or takes them.
    if (!("data" in result)) return interpreted(context, variables, root)
    return { ...result, errors: result.errors.map(asGraphQLError) }
  }
  const settled = async (result: Promise<ExecutionResult>, context: unknown, variables: Variables, root: unknown) =>
    finished(await result, context, variables, root)
  return (context, variables, root = {}) => {
    if (needed.length > 0 && isMissing(variables)) return interpreted(context, variables, root)
    const result: MaybePromise<ExecutionResult> = query.query(root, context, variables)
    return result instanceof Promise ? settled(result, context, variables, root) : finished(result, context, variables, root)
  }
}

/** The compiler throws errors of its own kind. */
function asGraphQLError({ message, locations, path, originalError }: GraphQLError): GraphQLError {
  const error = originalError ? locatedError(originalError, undefined, path) : new GraphQLError(message, { path })
  return error.locations ? error : Object.defineProperty(error, "locations", { value: locations, enumerable: true })
}
