import { STATUS_CODES } from "node:http"
import { isNativeError } from "node:util/types"
import { GraphQLError, Kind } from "graphql"
import { foreignAnswer } from "./foreign-errors.js"
import { rootLimits } from "./limits.js"

/** One fault of the input: its place as a dotted path, and what the value must be. */
export interface Detail {
  path: string
  message: string
}

/** An error that is an answer: a status, a code and a sentence that a caller can act on (contract, section 1). Nothing in it is secret. */
export class ApiError extends Error {
  override name = "ApiError"

  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
    readonly details: Detail[] = [],
    /** Response headers that belong to the answer, such as `Allow`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }
}

/** 400: the request is wrong, and repeating it will not help. */
export class BadUserInput extends ApiError {
  constructor(message: string, details: Detail[] = []) {
    super(400, "BAD_USER_INPUT", message, details)
  }
}

/** 401: no credentials, or bad ones. */
export class Unauthenticated extends ApiError {
  constructor(message = "Sign in, or send a valid access token") {
    super(401, "UNAUTHENTICATED", message)
  }
}

/** 403: authenticated, but not allowed. */
export class Forbidden extends ApiError {
  constructor(message = "You may not do this") {
    super(403, "FORBIDDEN", message)
  }
}

/** 404: `noun` as a person would say it, "Chat"; missing and foreign are the same answer. */
export class NotFound extends ApiError {
  constructor(noun: string) {
    super(404, "NOT_FOUND", `${noun} not found`)
  }
}

/** 405: the path exists, for the methods in `allow` ("GET, HEAD"). */
export class MethodNotAllowed extends ApiError {
  constructor(allow: string) {
    super(405, "METHOD_NOT_ALLOWED", `This path takes ${allow}`, [], { Allow: allow })
  }
}

/** 409: a conflict with something that exists. */
export class Conflict extends ApiError {
  constructor(message: string) {
    super(409, "CONFLICT", message)
  }
}

/** 410: the event cursor is older than the log; the client must read the current state again. */
export class ResyncRequired extends ApiError {
  constructor(message = "The cursor is older than the event log: read the current state anew and subscribe without it") {
    super(410, "RESYNC_REQUIRED", message)
  }
}

/** 413: larger than the limit of `bytes`. */
export class PayloadTooLarge extends ApiError {
  constructor(bytes: number = rootLimits.bodyBytes) {
    super(413, "PAYLOAD_TOO_LARGE", `The request is larger than ${Math.floor(bytes / 1024 / 1024)} MB`)
  }
}

/** 415: a body or a file of a type that is not accepted. */
export class UnsupportedMediaType extends ApiError {
  constructor(message = "Send the body as application/json") {
    super(415, "UNSUPPORTED_MEDIA_TYPE", message)
  }
}

/** 416: no byte of the requested range is in the file. */
export class RangeNotSatisfiable extends ApiError {
  constructor(size: number) {
    super(416, "RANGE_NOT_SATISFIABLE", `The file has ${size} bytes: ask for a range within it`, [], { "Content-Range": `bytes */${size}` })
  }
}

/** 422: the idempotency key was used for another request. */
export class IdempotencyKeyReused extends ApiError {
  constructor(message = "This Idempotency-Key was used for a different request: take a new key") {
    super(422, "IDEMPOTENCY_KEY_REUSED", message)
  }
}

/** 429: retry after `seconds`, rounded up to a whole second. */
export class RateLimited extends ApiError {
  readonly retryAfterSeconds: number

  constructor(seconds: number) {
    const wait = Math.max(1, Math.ceil(seconds))
    super(429, "RATE_LIMITED", `Too many requests: try again in ${wait} ${wait === 1 ? "second" : "seconds"}`, [], {
      "Retry-After": String(wait),
    })
    this.retryAfterSeconds = wait
  }
}

/** What an error means to a caller, the same for every transport. */
export interface ErrorDescription {
  statusCode: number
  /** The status in words: "Not Found". */
  error: string
  message: string
  code: string
  details: Detail[]
  headers: Readonly<Record<string, string>>
  /** An unexpected fault: it is logged, and the caller sees no details. */
  unexpected: boolean
}

/** The body of a failed REST request (contract, section 1). */
export interface RestErrorBody {
  statusCode: number
  error: string
  message: string
  code: string
  details: Detail[]
  requestId: string
}

/** The one mapping from a thrown error to the caller's error. Unknown errors become a 500 without internals. */
export function describe(error: unknown): ErrorDescription {
  const known = asApiError(error)
  const shown = known ?? new ApiError(500, "INTERNAL_SERVER_ERROR", unexpectedMessage)
  const { statusCode, code, message, details, headers } = shown
  return { statusCode, error: STATUS_CODES[statusCode] ?? "Error", message, code, details, headers, unexpected: !known }
}

/** The REST answer to an error. */
export function toRestBody(error: unknown, requestId: string): RestErrorBody {
  const { statusCode, error: phrase, message, code, details } = describe(error)
  return { statusCode, error: phrase, message, code, details, requestId }
}

/** The GraphQL form of an error, with its location in the document and its path in the result. */
export function toGraphQLError(error: unknown, requestId: string): GraphQLError {
  const { statusCode, code, message, details } = describe(error)
  const at = error instanceof GraphQLError ? error : undefined
  return new GraphQLError(message, {
    nodes: at?.nodes ?? null,
    source: at?.source ?? null,
    positions: at?.positions ?? null,
    path: at?.path ?? null,
    originalError: at?.originalError ?? (error instanceof Error ? error : null),
    extensions: { code, statusCode, details, requestId },
  })
}

const unexpectedMessage = "Something went wrong on our side; quote the request id when you report it."

function asApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  if (error instanceof GraphQLError) return fromGraphQL(error)
  const foreign = isNativeError(error) ? foreignAnswer(error) : null
  return foreign && new ApiError(foreign.statusCode, foreign.code, foreign.message, [], foreign.headers)
}

/** Status of the codes that graphql-js, Apollo or a scalar put on a GraphQLError; the last three are Apollo's own words for a bad request. */
const statusOfCode: Record<string, number> = {
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  BAD_USER_INPUT: 400,
  PERSISTED_QUERY_NOT_FOUND: 400,
  PERSISTED_QUERY_NOT_SUPPORTED: 400,
  BAD_REQUEST: 400,
  OPERATION_RESOLUTION_FAILURE: 400,
}

/** A GraphQLError is a wrapper (of what a resolver or a scalar threw), Apollo's refusal (with a code), or graphql-js's (without one). */
function fromGraphQL(error: GraphQLError): ApiError | null {
  // Within a field, only the place of an error without a code says whose fault it is: see codeOfBare.
  if (tooManyTokens.test(error.message)) return new BadUserInput(`The document has more than ${rootLimits.graphqlTokens} tokens`)
  const inner = error.originalError && !(error.path && isBare(error.originalError)) ? asApiError(error.originalError) : null
  const variable = error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION
  // For a bad variable graphql-js's message says more than the scalar's: which variable, and where in it.
  if (variable) return new ApiError(inner?.statusCode ?? 400, inner?.code ?? "BAD_USER_INPUT", error.message, detailsOf(error.message))
  if (inner) return inner
  const http = error.extensions["http"] as { status?: number } | undefined
  if (http?.status === 405) return new ApiError(405, "METHOD_NOT_ALLOWED", error.message, [], { Allow: "POST" })
  const code = String(error.extensions["code"] ?? codeOfBare(error))
  const status = statusOfCode[code]
  if (!status) return null
  return new ApiError(status, /^(GRAPHQL|PERSISTED)_/.test(code) ? code : "BAD_USER_INPUT", error.message)
}

/** graphql-js's parser reports too many tokens as a syntax error; here it is a limit like the others. */
const tooManyTokens = /^Syntax Error: Document contains more tha[nt] \d+ tokens/

const isBare = (error: Error) => error instanceof GraphQLError && !error.originalError && !error.extensions["code"]

/** The code of graphql-js's own errors: of a document before it runs, or of a literal argument while it runs. A resolver's failure has none. */
function codeOfBare(error: GraphQLError): string | null {
  const { path, originalError, nodes } = error
  if (path) return originalError instanceof GraphQLError && originalError.nodes ? "BAD_USER_INPUT" : null
  if (originalError && !(originalError instanceof GraphQLError)) return null
  if (error.message.startsWith("Syntax Error")) return "GRAPHQL_PARSE_FAILED"
  return nodes ? "GRAPHQL_VALIDATION_FAILED" : "BAD_USER_INPUT"
}

/** The path of the bad value within a variable: `Variable "$input" got invalid value "x" at "input.color"; must be …` names input.color. */
function detailsOf(message: string): Detail[] {
  const [, name, rest] = /^Variable "\$(\w+)" (.*)$/s.exec(message) ?? []
  if (!name || !rest) return []
  if (rest.startsWith("of required type")) return [{ path: name, message: "is required" }]
  const [, place, said] = /^got invalid value .* at "([\w.[\]]+)"; (.*)$/s.exec(rest) ?? []
  const [, whole] = /^got invalid value .*; (.*)$/s.exec(rest) ?? []
  return [{ path: (place ?? name).replace(/\[(\d+)\]/g, ".$1"), message: said ?? whole ?? rest }]
}
