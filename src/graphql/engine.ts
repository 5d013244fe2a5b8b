import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getNullableType,
  getOperationAST,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
} from "graphql"
import { OperationReads } from "../context/read-budget.js"
import { refuseUnstorable } from "../context/refuse-nul.js"
import type { RequestContext, RequestInfo } from "../context/request-context.js"
import { ApiError, BadUserInput, DocumentNotTrusted, describe, NotFound, toGraphQLError } from "../errors/errors.js"
import { timed } from "../observability/longest-turns.js"
import { oncePer } from "../once-per.js"
import { withCurrentNames } from "./earlier-names.js"
import { runWithoutSuggestions, withoutSuggestion, withoutSuggestions } from "./hidden-schema.js"
import { graphqlLimits } from "./limits.js"
import { type Cost, costOf, refuseCost, type Variables } from "./operation-cost.js"
import { checkNesting, checkShape } from "./operation-limits.js"
import { type Run, runFirstCompiled, runLaterCompiled } from "./run.js"
import { SharedCache } from "./shared-cache.js"
import { textsOfVariables } from "./text-literals.js"
import type { TrustedDocuments } from "./trusted-documents.js"
import { InvalidDocument, parseDocument, refuseCircles, validationErrors, withinStack } from "./validation.js"

/** Transport of an operation. */
export type Transport = "http" | "rest" | "mcp" | "graphql-ws"

/** A validated operation within the limits of its shape, ready to run. */
export interface PreparedOperation {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  /** Whether it is a query of nothing but lists. */
  isListing: boolean
  /** How much it could return with these variables. */
  cost(variables: Variables): Cost
  /** Throws for variables that have texts beyond their limits. */
  checkTexts(variables: Variables): void
  /** Runs it without the limits that depend on its variables; transports call `OperationEngine.run` instead. */
  run: Run
}

/** A subscription that has started. */
export interface StartedSubscription {
  events: AsyncIterator<object>
  /** Runs the operation for an event. */
  run(event: object): ReturnType<Run>
}

/** An operation as a client sends it. */
export interface RequestedOperation {
  query: string
  operationName?: string | null
  variables?: Variables | null
}

/** Facts about an operation for metrics and traces. */
export interface ObservedOperation {
  transport: Transport
  kind: OperationTypeNode
  /** Name of its first root field. */
  field: string
  /** Name that the client gave it: arbitrary text, which must not become a label of a metric. */
  name: string | null
}

/** Hook for metrics and tracing, which every operation of every transport passes. */
export interface OperationObserver {
  /** Called with each operation; it must call `run` once and return its result. */
  around?<T>(operation: ObservedOperation, run: () => T): T
  /** Called at the end of each operation; `outcome` is "OK" or the code of its first error. For a subscription the end is its start. */
  ended?(operation: ObservedOperation, outcome: string, milliseconds: number): void
}

/** A cache of prepared operations of clients, by schema, name and text. */
export const operationCache = () => new SharedCache<PreparedOperation>(graphqlLimits.preparedBytes, graphqlLimits.preparedOperationBytes)

/** That of this process: servers that share a schema share what they have prepared. */
const ofProcess = operationCache()
/** Those of the server's own, whose number its code bounds. */
const ownOf = oncePer((_schema: GraphQLSchema) => new Map<string, PreparedOperation>())

let objects = 0
const idOf = oncePer((_object: GraphQLSchema | TrustedDocuments) => (objects += 1))

/** Prepares operations once and runs them within the limits, for every transport. */
export class OperationEngine {
  /** What the preparation depends on besides the operation. */
  readonly #variant: string

  constructor(
    private readonly observer?: OperationObserver,
    /** Whether clients see nothing of the schema: no introspection, and no suggested names in errors. */
    private readonly hidesSchema = false,
    /** The only documents that clients may run; null allows all. */
    readonly trusted: TrustedDocuments | null = null,
    /** Keeps the prepared operations of clients. */
    private readonly ofClients = ofProcess,
  ) {
    this.#variant = `${hidesSchema ? " hidden" : ""}${trusted ? ` trusted ${idOf(trusted)}` : ""}`
  }

  // NUL is a safe separator, because no valid document contains it.
  #keyOf(schema: GraphQLSchema, { query, operationName }: RequestedOperation) {
    return `${idOf(schema)}${this.#variant}\u0000${operationName ?? ""}\u0000${query}`
  }

  /** Returns the operation of a client if it is still prepared. */
  find(schema: GraphQLSchema, requested: RequestedOperation): PreparedOperation | undefined {
    return this.ofClients.get(this.#keyOf(schema, requested))
  }

  /**
   * Prepares an operation of a client, which is compiled when it is repeated, and keeps it in the room of `owner`; `parse` makes the document
   * of its query.
   */
  prepareForClient(
    schema: GraphQLSchema,
    requested: RequestedOperation,
    owner: string,
    parse = () => parseDocument(requested.query),
  ): PreparedOperation {
    const known = this.find(schema, requested)
    if (known) return known
    const [key, { query }] = [this.#keyOf(schema, requested), requested]
    const prepared = this.#prepared(schema, requested, parse, (document, operation) =>
      runLaterCompiled(schema, document, operation, (fields) => this.ofClients.resize(key, prepared, bytesOf(query, fields))),
    )
    this.ofClients.set(key, prepared, owner, bytesOf(query))
    return prepared
  }

  /** Prepares an operation of the server's own, which is compiled at its first run. */
  prepare(schema: GraphQLSchema, requested: RequestedOperation): PreparedOperation {
    const [own, key] = [ownOf(schema), this.#keyOf(schema, requested)]
    const known = own.get(key)
    if (known) return known
    const parse = () => parseDocument(requested.query)
    const prepared = this.#prepared(schema, requested, parse, (...valid) => runFirstCompiled(schema, ...valid))
    own.set(key, prepared)
    return prepared
  }

  /** Parses an operation, measures and validates it. */
  #prepared(
    schema: GraphQLSchema,
    requested: RequestedOperation,
    parse: () => DocumentNode,
    toRun: (document: DocumentNode, operation: OperationDefinitionNode) => Run,
  ): PreparedOperation {
    checkNesting(requested.query)
    const document = withCurrentNames(parse())
    const valid = timed("validate", () => withinStack(() => this.#validated(schema, requested, document)))
    const run = toRun(document, valid.operation)
    return { schema, document, ...valid, run: this.hidesSchema ? runWithoutSuggestions(run) : run }
  }

  /** Returns the operation of a document and its cost; throws for a document that is not trusted, too large or not valid. */
  #validated(schema: GraphQLSchema, { operationName, variables }: RequestedOperation, document: DocumentNode) {
    if (this.trusted && !this.trusted.allows(schema, document)) throw new DocumentNotTrusted()
    const operation = getOperationAST(document, operationName || null)
    if (!operation) throw new BadUserInput("operationName must name an operation of the document")
    // Before everything that follows the spreads of fragments.
    refuseCircles(document)
    // Measured before validation, which could take long for a large operation.
    checkShape(document, operation)
    const cost = costOf(schema, document, operation)
    refuseCost(cost(variables ?? {}))
    const errors = validationErrors(schema, document, this.hidesSchema)
    if (errors.length > 0) throw new InvalidDocument(this.hidesSchema ? errors.map(withoutSuggestion) : errors)
    return { operation, cost, checkTexts: textsOfVariables(schema, operation), isListing: isListing(schema, operation) }
  }

  /** Throws for variables that contain NUL, make the operation too costly, or have texts beyond their limits. */
  check(prepared: PreparedOperation, variables: Variables): PreparedOperation {
    refuseUnstorable(variables)
    refuseCost(prepared.cost(variables))
    prepared.checkTexts(variables)
    return prepared
  }

  /** Runs a query or a mutation; errors are those that were thrown. Throws when the variables exceed the limits. */
  run(prepared: PreparedOperation, context: unknown, variables: Variables, transport: Transport) {
    const reads = readsOf(context)
    reads.begin(prepared.operation.operation === "mutation", prepared.isListing)
    const once = () => this.check(prepared, variables).run(context, variables)
    const again = (result: ExecutionResult) => {
      const error = reads.isOld && result.errors?.find(isOfReplica)
      if (!error) return measured(result, reads)
      ;(context as RequestContext).readAgain(error)
      return Promise.resolve(once()).then((later) => measured(later, reads))
    }
    const work = () => {
      const result = timed("execute", once)
      return result instanceof Promise ? result.then(again) : measured(result, reads)
    }
    return this.observer ? this.#observed(prepared, transport, work) : work()
  }

  /** Starts a subscription: its events, each of which runs like a query; a result with errors when it cannot start. */
  subscribe(prepared: PreparedOperation, contextValue: unknown, variables: Variables, transport: Transport) {
    const start = async (): Promise<ExecutionResult | StartedSubscription> => {
      const { schema, document, operation } = this.check(prepared, variables)
      const operationName = operation.name?.value
      const source = await createSourceEventStream({ schema, document, operationName, contextValue, variableValues: variables })
      if (!(Symbol.asyncIterator in source)) return this.hidesSchema ? withoutSuggestions(source) : source
      const events = source[Symbol.asyncIterator]() as AsyncIterator<object>
      return { events, run: async (event) => measured(await prepared.run(contextValue, variables, event), new OperationReads()) }
    }
    return this.observer ? this.#observed(prepared, transport, start) : start()
  }

  async #observed<T extends object>({ operation }: PreparedOperation, transport: Transport, work: () => T | Promise<T>): Promise<T> {
    const observer = this.observer!
    const [first] = operation.selectionSet.selections
    const field = first?.kind === Kind.FIELD ? first.name.value : "…"
    const observed = { transport, kind: operation.operation, field, name: operation.name?.value ?? null }
    const startedAt = performance.now()
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
      observer.ended?.(observed, outcome, performance.now() - startedAt)
    }
  }
}

/**
 * Whether an error may come from the replica, and not from the request: a row that it does not have yet is not found, or null where there is always one; and
 * it may end, or cancel a statement because it is to replay what removes its rows.
 */
const isOfReplica = ({ originalError }: GraphQLError) => !(originalError instanceof ApiError) || originalError instanceof NotFound

/** Whether each field of an operation is a list or a page of one; one with fragments beside them counts as something else. */
function isListing(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): boolean {
  if (operation !== "query") return false
  const fields = schema.getQueryType()!.getFields()
  return selectionSet.selections.every((selection) => {
    if (selection.kind !== Kind.FIELD) return false
    const type = getNullableType(fields[selection.name.value]?.type)
    return isListType(type) || (isObjectType(type) && "nodes" in type.getFields())
  })
}

/** Bytes that a prepared operation takes, by the length of its text and the number of fields that were compiled. */
function bytesOf(query: string, compiledFields = 0): number {
  const { parsedBytes, parsedCharacterBytes, compiledBytes, compiledFieldBytes } = graphqlLimits
  const compiled = compiledFields > 0 ? compiledBytes + compiledFields * compiledFieldBytes : 0
  return parsedBytes + query.length * parsedCharacterBytes + compiled
}

/** What counts the response of an operation; in tests the context may be any value. */
const readsOf = (context: unknown) => (context as Partial<RequestContext> | undefined)?.request?.reads ?? new OperationReads()

/** The result of an operation, or its error when its response is too large. */
function measured(result: ExecutionResult, reads: OperationReads): ExecutionResult {
  try {
    reads.respond(result.data)
    return result
  } catch (error) {
    return { errors: [new GraphQLError((error as Error).message, { originalError: error as Error })], data: null }
  }
}

/** Converts a thrown error, or a list of errors, to the client's errors; unexpected errors are logged. */
export const shownErrors = (thrown: unknown, request: Pick<RequestInfo, "requestId" | "log" | "headers">): GraphQLError[] =>
  [thrown instanceof InvalidDocument ? thrown.errors : thrown].flat().map((error) => {
    const { unexpected, statusCode, headers } = describe(error)
    if (unexpected) request.log.error({ err: error }, "operation failed")
    else if (statusCode === 503) request.log.warn({ reason: (error as Error).message }, "operation refused: a service does not answer")
    // Retry-After is a header of the whole response.
    if (headers["Retry-After"]) request.headers["Retry-After"] = headers["Retry-After"]
    return toGraphQLError(error, request.requestId)
  })
