import { mapAsyncIterator } from "@graphql-tools/utils"
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  parse,
  validate,
} from "graphql"
import { LRUCache } from "lru-cache"
import { refuseNulIn } from "../context/refuse-nul.js"
import type { RequestInfo } from "../context/request-context.js"
import { BadUserInput, describe, toGraphQLError } from "../errors.js"
import { rootLimits } from "../limits.js"
import { graphqlLimits } from "./limits.js"
import { oncePerSchema } from "./once-per-schema.js"
import { costOf, refuseShape, type Variables } from "./operation-limits.js"
import { type Run, runOf } from "./run.js"

/** What an operation comes by. */
export type Transport = "http" | "rest" | "graphql-ws"

/** An operation of a document that is valid and within the limits of its shape, ready to run. */
export interface PreparedOperation {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  /** How many objects it could return with these variables. */
  cost(variables: Variables): number
  /** Runs it, past the limits that depend on its variables; transports run it by `OperationEngine.run`. */
  run: Run
}

/** An operation as a client sends it. */
export interface AskedOperation {
  query: string
  operationName?: string | null
  variables?: Variables | null
}

/** A document that is not valid against the schema. */
export class InvalidDocument extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super(errors.map((error) => error.message).join("; "))
  }
}

/** What is observed of an operation. */
export interface ObservedOperation {
  transport: Transport
  kind: OperationTypeNode
  /** Its first root field. */
  field: string
  /** The client's name for it: any text, and so no label of a metric. */
  name: string | null
}

/** Where metrics and tracing are attached: every operation of every transport passes here. */
export interface OperationObserver {
  /** Called with each operation; it must call `run` once, and answer its result. */
  around?<T>(operation: ObservedOperation, run: () => T): T
  /** Called at the end of each operation; `outcome` is "OK" or the code of its first error. A subscription ends here when it has begun. */
  ended?(operation: ObservedOperation, outcome: string, milliseconds: number): void
}

/** The operations that are prepared on a schema, by name and text. */
const preparedOn = oncePerSchema(
  () =>
    new LRUCache<string, PreparedOperation>({
      max: graphqlLimits.preparedOperations,
      maxSize: graphqlLimits.preparedOperationsLength,
      sizeCalculation: (_prepared, key) => key.length,
    }),
)

// No valid document holds NUL: where the name ends is never in doubt.
const keyOf = ({ query, operationName }: AskedOperation) => `${operationName ?? ""}\u0000${query}`

/** Prepares operations once and runs them within the limits, for every transport. */
export class OperationEngine {
  constructor(private readonly observer?: OperationObserver) {}

  /** The operation, if it was prepared before. */
  find(schema: GraphQLSchema, asked: AskedOperation): PreparedOperation | undefined {
    return preparedOn(schema).get(keyOf(asked))
  }

  /** Parses, measures, validates and compiles an operation, unless that was done before; `parsed` is its query, where it is parsed. */
  prepare(schema: GraphQLSchema, asked: AskedOperation, parsed?: DocumentNode): PreparedOperation {
    const known = this.find(schema, asked)
    if (known) return known
    const { query, operationName, variables } = asked
    const document = parsed ?? parse(query, { maxTokens: rootLimits.graphqlTokens })
    const operation = getOperationAST(document, operationName || null)
    if (!operation) throw new BadUserInput("Say which operation to run: operationName names none of the document's")
    // Measured first: validating what is too large could take long.
    refuseShape(document, operation)
    const cost = costOf(schema, document, operation)
    refuseCost(cost(variables ?? {}))
    const errors = validate(schema, document)
    if (errors.length > 0) throw new InvalidDocument(errors)
    const prepared = { schema, document, operation, cost, run: runOf(schema, document, operation) }
    preparedOn(schema).set(keyOf(asked), prepared)
    return prepared
  }

  /** Runs a query or a mutation; its errors are as they were thrown. Throws when its variables are over the limits. */
  run(prepared: PreparedOperation, context: unknown, variables: Variables, transport: Transport) {
    if (this.observer) return this.#observed(prepared, transport, () => within(prepared, variables).run(context, variables))
    return within(prepared, variables).run(context, variables)
  }

  /** Begins a subscription; each of its events is run like a query. */
  subscribe(prepared: PreparedOperation, contextValue: unknown, variables: Variables, transport: Transport) {
    const begin = async () => {
      const { schema, document, operation } = within(prepared, variables)
      const operationName = operation.name?.value
      const source = await createSourceEventStream({ schema, document, operationName, contextValue, variableValues: variables })
      if (!(Symbol.asyncIterator in source)) return source
      return mapAsyncIterator(source[Symbol.asyncIterator](), (event) => prepared.run(contextValue, variables, event))
    }
    return this.observer ? this.#observed(prepared, transport, begin) : begin()
  }

  async #observed<T extends object>({ operation }: PreparedOperation, transport: Transport, work: () => T | Promise<T>): Promise<T> {
    const observer = this.observer!
    const [first] = operation.selectionSet.selections
    const field = first?.kind === Kind.FIELD ? first.name.value : "…"
    const observed = { transport, kind: operation.operation, field, name: operation.name?.value ?? null }
    const begin = performance.now()
    let outcome = "OK"
    try {
      const result = await (observer.around ? observer.around(observed, work) : work())
      const [error] = ("errors" in result && (result as ExecutionResult).errors) || []
      if (error) outcome = describe(error).code
      return result
    } catch (error) {
      outcome = describe(error).code
      throw error
    } finally {
      observer.ended?.(observed, outcome, performance.now() - begin)
    }
  }
}

/** Refuses variables that hold NUL or make the operation too costly. */
function within(prepared: PreparedOperation, variables: Variables): PreparedOperation {
  refuseNulIn(variables)
  refuseCost(prepared.cost(variables))
  return prepared
}

function refuseCost(cost: number) {
  if (cost > graphqlLimits.graphqlCost)
    throw new BadUserInput(`The operation could return ${cost} objects, more than ${graphqlLimits.graphqlCost}: ask for smaller pages`)
}

/** The errors that a client is shown for what was thrown, or for a list of errors; what is ours to repair is logged. */
export const shownErrors = (thrown: unknown, request: Pick<RequestInfo, "requestId" | "log" | "headers">): GraphQLError[] =>
  [thrown instanceof InvalidDocument ? thrown.errors : thrown].flat().map((error) => {
    const { unexpected, statusCode, headers } = describe(error)
    if (unexpected) request.log.error({ err: error }, "operation failed")
    else if (statusCode === 503) request.log.warn({ reason: (error as Error).message }, "operation refused: a service does not answer")
    // Retry-After is a header of the whole response.
    if (headers["Retry-After"]) request.headers["Retry-After"] = headers["Retry-After"]
    return toGraphQLError(error, request.requestId)
  })
