import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from "graphql"
import { type CompiledQuery, compileQuery, isCompiledQuery } from "graphql-jit"

/** Runs an operation with its variables on behalf of a context. */
export type Run = (context: unknown, variables: Record<string, unknown>, root?: unknown) => Promise<ExecutionResult> | ExecutionResult

// Per document, which Apollo and the REST table keep: a document that is forgotten there is forgotten here.
const cache = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, Map<string, Run>>>()

/** Compiles an operation, once per document. */
export function compiled(schema: GraphQLSchema, document: DocumentNode, operationName = ""): Run {
  const documents = cache.get(schema) ?? new WeakMap<DocumentNode, Map<string, Run>>()
  cache.set(schema, documents)
  const operations = documents.get(document) ?? new Map<string, Run>()
  documents.set(document, operations)
  const known = operations.get(operationName)
  if (known) return known
  const query = compileQuery(schema, document, operationName, { disablingCapturingStackErrors: true })
  const run = isCompiledQuery(query)
    ? runOf(schema, query, getOperationAST(document, operationName || null)!)
    : () => query as ExecutionResult
  operations.set(operationName, run)
  return run
}

const runOf =
  (schema: GraphQLSchema, query: CompiledQuery, operation: OperationDefinitionNode): Run =>
  async (context, variables, root = {}) => {
    const result = await query.query(root, context, variables)
    if (!result.errors) return result
    // Of bad variables the compiler says little: graphql-js says which one, where in it, and why.
    const { errors } = result.data ? { errors: undefined } : getVariableValues(schema, operation.variableDefinitions ?? [], variables)
    return errors ? { errors } : { ...result, errors: result.errors.map(asGraphQLError) }
  }

/** The compiler throws errors of its own kind; every door knows GraphQL's. */
function asGraphQLError({ message, locations, path, originalError }: GraphQLError): GraphQLError {
  const error = new GraphQLError(message, { path, originalError })
  return Object.defineProperty(error, "locations", { value: locations, enumerable: true })
}
