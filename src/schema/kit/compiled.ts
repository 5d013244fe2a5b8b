import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from "graphql"
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
  const run = isCompiledQuery(query) ? runOf(query) : () => query as ExecutionResult
  operations.set(operationName, run)
  return run
}

const runOf =
  (query: CompiledQuery): Run =>
  async (context, variables, root = {}) => {
    const result = await query.query(root, context, variables)
    // The compiler throws errors of its own kind; every door knows GraphQL's.
    if (result.errors) result.errors = result.errors.map(asGraphQLError)
    return result
  }

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error
  const { message, locations, path, originalError } = error as GraphQLError
  const made = new GraphQLError(message, { path, originalError: originalError ?? (error as Error) })
  if (locations) Object.defineProperty(made, "locations", { value: locations, enumerable: true })
  return made
}
