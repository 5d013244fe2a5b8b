import { STATUS_CODES } from "node:http"
import { isNativeError } from "node:util/types"
import { GraphQLError, Kind } from "graphql"
import { rootLimits } from "../limits.js"
import { foreignAnswer } from "./library-errors.js"

/** One error of the input: the dotted path of the value, and what the value must be. */
export interface Detail {
  path: string
  message: string
}

/** An error that the client receives: a status, a code and a message that the caller can act on (contract, section 1), without secrets. */
export class ApiError extends Error {
  override name = "ApiError"

  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
    readonly details: Detail[] = [],
    /** Response headers of the error, such as `Allow`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    // Without a stack: nobody reads where a request was refused, and graphql-js has the stack of each error that it wraps written out.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** 400: the request is invalid, and repeating it will not help. */
export class BadUserInput extends ApiError {
  constructor(message: string, details: Detail[] = []) {
    super(400, "BAD_USER_INPUT", message, details)
  }
}

/** 400: the server runs only the operations of its manifest (`TRUSTED_DOCUMENTS`), and this is none of them. */
export class DocumentNotTrusted extends ApiError {
  static readonly code = "DOCUMENT_NOT_TRUSTED"

  constructor() {
    super(400, DocumentNotTrusted.code, "This server runs only the operations of its manifest: send the ID or the text of one of them")
  }
}

/** 401: credentials are missing or invalid. */
export class Unauthenticated extends ApiError {
  constructor(message = "Send an access token in the header X-Access-Token, or a JWT in Authorization: Bearer") {
    super(401, "UNAUTHENTICATED", message)
  }
}

/** 403: authenticated, but not allowed. */
export class Forbidden extends ApiError {
  constructor(message = "This credential does not permit the operation") {
    super(403, "FORBIDDEN", message)
  }
}

/** 404: `noun` names the object, such as "Chat"; a missing object and one of another company get the same response. */
export class NotFound extends ApiError {
  constructor(noun: string) {
    super(404, "NOT_FOUND", `${noun} not found`)
  }
}

/** 405: the path supports only the methods in `allow` ("GET, HEAD"). */
export class MethodNotAllowed extends ApiError {
  constructor(allow: string) {
    super(405, "METHOD_NOT_ALLOWED", `This path supports only ${allow}`, [], { Allow: allow })
  }
}

/** 409: the request conflicts with an existing object. */
export class Conflict extends ApiError {
  constructor(message: string) {
    super(409, "CONFLICT", message)
  }
}

/** 410: the event log no longer has the cursor, or never had it; the client must read the current state again. */
export class ResyncRequired extends ApiError {
  constructor(
    message = "The event log does not have this cursor, which is older than 24 hours or of another database: read eventCursor, then the current state, and subscribe after that cursor",
  ) {
    super(410, "RESYNC_REQUIRED", message)
  }
}

/** 413: the request is larger than `bytes`. */
export class PayloadTooLarge extends ApiError {
  constructor(bytes: number = rootLimits.bodyBytes) {
    super(413, "PAYLOAD_TOO_LARGE", `The request is larger than ${Math.floor(bytes / 1024 / 1024)} MB`)
  }
}

/** 413: the files of the company would be larger than its quota. */
export class MediaQuotaExceeded extends ApiError {
  constructor(quota: number) {
    super(
      413,
      "PAYLOAD_TOO_LARGE",
      `With this file the files of the company would be larger than its quota of ${quota} bytes: delete others first`,
    )
  }
}

/** 415: the type of a body or of a file is not accepted. */
export class UnsupportedMediaType extends ApiError {
  constructor(message = "Send the body as application/json") {
    super(415, "UNSUPPORTED_MEDIA_TYPE", message)
  }
}

/** 416: the requested range is outside the file. */
export class RangeNotSatisfiable extends ApiError {
  constructor(size: number) {
    super(416, "RANGE_NOT_SATISFIABLE", `The file has ${size} bytes: request a range within it`, [], { "Content-Range": `bytes */${size}` })
  }
}

/** 422: the idempotency key was used for another request. */
export class IdempotencyKeyReused extends ApiError {
  constructor(message = "This Idempotency-Key was used for a different request: use a new key") {
    super(422, "IDEMPOTENCY_KEY_REUSED", message)
  }
}

/** 429: retry after `seconds`, rounded up to a whole second; `message` explains a limit that is not one of time. */
export class RateLimited extends ApiError {
  readonly retryAfterSeconds: number

  constructor(seconds: number, message?: string) {
    const wait = Math.max(1, Math.ceil(seconds))
    const text = message ?? `Too many requests: try again in ${wait} ${wait === 1 ? "second" : "seconds"}`
    super(429, "RATE_LIMITED", text, [], { "Retry-After": String(wait) })
    this.retryAfterSeconds = wait
  }
}

/** The description of an error for callers, the same for every transport. */
export interface ErrorDescription {
  statusCode: number
  /** Reason phrase of the status, such as "Not Found". */
  error: string
  message: string
  code: string
  details: Detail[]
  headers: Readonly<Record<string, string>>
  /** Whether the error is unexpected: it is logged, and the caller gets no details. */
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

/** The only mapping from a thrown error to the caller's error. Unknown errors become a 500 without details. */
export function describe(error: unknown): ErrorDescription {
  const known = asApiError(error)
  const apiError = known ?? new ApiError(500, "INTERNAL_SERVER_ERROR", unexpectedMessage)
  const { statusCode, code, message, details, headers } = apiError
  return { statusCode, error: STATUS_CODES[statusCode] ?? "Error", message, code, details, headers, unexpected: !known }
}

/** The level at which a background failure is logged: what recovers by itself, as when the database does not answer, is a warning. */
export const levelOf = (error: unknown): "warn" | "error" => (describe(error).statusCode === 503 ? "warn" : "error")

/** The body of the REST response to an error. */
export function toRestBody(error: unknown, requestId: string): RestErrorBody {
  const { statusCode, error: phrase, message, code, details } = describe(error)
  return { statusCode, error: phrase, message, code, details, requestId }
}

/** The GraphQL form of an error, with its location in the document and its path in the result. */
export function toGraphQLError(error: unknown, requestId: string): GraphQLError {
  const { statusCode, code, message, details } = describe(error)
  const graphqlError = error instanceof GraphQLError ? error : undefined
  return new GraphQLError(message, {
    nodes: graphqlError?.nodes ?? null,
    source: graphqlError?.source ?? null,
    positions: graphqlError?.positions ?? null,
    path: graphqlError?.path ?? null,
    originalError: graphqlError?.originalError ?? (error instanceof Error ? error : null),
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

/** Status of the codes that graphql-js, Apollo or a scalar sets on a GraphQLError. */
const statusOfCode: Record<string, number> = {
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  BAD_USER_INPUT: 400,
  PERSISTED_QUERY_NOT_FOUND: 400,
  PERSISTED_QUERY_NOT_SUPPORTED: 400,
  BAD_REQUEST: 400,
  OPERATION_RESOLUTION_FAILURE: 400,
}

/** Converts a GraphQLError: a wrapper of an error of a resolver or scalar, or an error of Apollo (with a code) or graphql-js (without). */
function fromGraphQL(error: GraphQLError): ApiError | null {
  // Of an error in a field without a code, codeOfBare() finds out whether the client caused it.
  if (tooManyTokens.test(error.message)) return new BadUserInput(`The document has more than ${rootLimits.graphqlTokens} tokens`)
  if (overflow.test(error.message) && error.extensions["code"] === "GRAPHQL_PARSE_FAILED")
    return new BadUserInput("The document nests too deeply")
  const inner = error.originalError && !(error.path && isBare(error.originalError)) ? asApiError(error.originalError) : null
  const variable = error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION
  // For an invalid variable, graphql-js's message is more precise than the scalar's: it names the variable and the path in it.
  if (variable) return new ApiError(inner?.statusCode ?? 400, inner?.code ?? "BAD_USER_INPUT", error.message, detailsOf(error.message))
  if (inner) return inner
  const http = error.extensions["http"] as { status?: number } | undefined
  if (http?.status === 405) return new ApiError(405, "METHOD_NOT_ALLOWED", error.message, [], { Allow: "POST" })
  const code = String(error.extensions["code"] ?? codeOfBare(error))
  const status = statusOfCode[code]
  if (!status) return null
  return new ApiError(status, /^(GRAPHQL|PERSISTED)_/.test(code) ? code : "BAD_USER_INPUT", error.message)
}

/** graphql-js reports too many tokens as a syntax error; here it is reported like other limits. */
const tooManyTokens = /^Syntax Error: Document contains more tha[nt] \d+ tokens/

/** V8's message for a document whose brackets nest too deeply for graphql-js's parser. */
const overflow = /^Maximum call stack size exceeded$/

const isBare = (error: Error) => error instanceof GraphQLError && !error.originalError && !error.extensions["code"]

/** The code of an error of graphql-js: in a document before it runs, or in a literal argument while it runs; null for others. */
function codeOfBare(error: GraphQLError): string | null {
  const { path, originalError, nodes } = error
  if (path) return originalError instanceof GraphQLError && originalError.nodes ? "BAD_USER_INPUT" : null
  if (originalError && !(originalError instanceof GraphQLError)) return null
  if (error.message.startsWith("Syntax Error")) return "GRAPHQL_PARSE_FAILED"
  return nodes ? "GRAPHQL_VALIDATION_FAILED" : "BAD_USER_INPUT"
}

/** The field that graphql-js's message says is missing in an input; null for another message. */
export const missingField = (message: string): string | null => /^Field "(\w+)" of required type/.exec(message)?.[1] ?? null

/** Extracts the path in a variable: `Variable "$input" got invalid value "x" at "input.color"; must be …` names input.color. */
function detailsOf(message: string): Detail[] {
  const [, name, rest] = /^Variable "\$(\w+)" (.*)$/s.exec(message) ?? []
  if (!name || !rest) return []
  if (rest.startsWith("of required type")) return [{ path: name, message: "is required" }]
  const [, place, reason] = /^got invalid value .* at "([\w.[\]]+)"; (.*)$/s.exec(rest) ?? []
  const [, whole] = /^got invalid value .*; (.*)$/s.exec(rest) ?? []
  const path = (place ?? name).replace(/\[(\d+)\]/g, ".$1")
  const why = reason ?? whole ?? rest
  const missing = missingField(why)
  return [missing ? { path: `${path}.${missing}`, message: "is required" } : { path, message: why }]
}
