import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode } from "graphql"
import { LRUCache } from "lru-cache"
import type { RequestContext } from "../context/request-context.js"
import { shownError, statusOf } from "../http/operation-answer.js"
import { compiled } from "./compiled.js"
import { graphqlLimits } from "./limits.js"
import { refuseExcess } from "./operation-limits.js"

interface Known {
  document: DocumentNode
  operation: OperationDefinitionNode
}

const isName = (value: unknown): value is string | null | undefined => value == null || typeof value === "string"
const isVariables = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value == null || (typeof value === "object" && !Array.isArray(value))
// No valid document holds NUL: where the name ends is never in doubt.
const keyOf = (query: string, operationName: string | null | undefined) => `${operationName ?? ""}\u0000${query}`

/**
 * Operations that Apollo has parsed and found valid once. One that comes again is run at once, under the same limits: Apollo's way through
 * its stages costs as much as a small operation itself.
 */
export class KnownOperations {
  readonly #operations = new LRUCache<string, Known>({
    max: graphqlLimits.knownOperations,
    maxSize: graphqlLimits.knownOperationsLength,
    sizeCalculation: (_known, key) => key.length,
  })
  /** The media type that Apollo chose for an Accept header. */
  readonly #types = new LRUCache<string, string>({ max: graphqlLimits.knownTypes })

  constructor(private readonly schema: GraphQLSchema) {}

  /** Remembers an operation that was found valid. */
  learn(query: string | undefined, operationName: string | null | undefined, document: DocumentNode) {
    const operation = getOperationAST(document, operationName)
    if (query && operation) this.#operations.set(keyOf(query, operationName), { document, operation })
  }

  /** Remembers what type answers to an Accept header have. */
  learnType(accept: string, type: string | undefined) {
    if (type) this.#types.set(accept, type)
  }

  /** Answers an operation that is known; null for what Apollo has to look at. */
  async answer(context: RequestContext, body: Record<string, unknown>, accept: string) {
    const { query, operationName, variables: given, ...more } = body
    const type = this.#types.get(accept)
    if (!type || typeof query !== "string" || !isName(operationName) || !isVariables(given) || Object.keys(more).length > 0) return null
    const known = this.#operations.get(keyOf(query, operationName))
    const variables = given ?? {}
    if (!known || !this.isWithinLimits(known, variables)) return null
    const { data, errors } = await compiled(this.schema, known.document, operationName ?? "")(context, variables)
    const shown = errors?.map((error) => shownError(error, context.request).toJSON())
    return { status: statusOf(accept, data, shown), type, text: JSON.stringify({ errors: shown, data }) }
  }

  /** What is over the limits is refused where everything is refused. */
  private isWithinLimits({ document, operation }: Known, variables: Record<string, unknown>): boolean {
    try {
      refuseExcess(this.schema, document, operation, variables)
      return true
    } catch {
      return false
    }
  }
}
