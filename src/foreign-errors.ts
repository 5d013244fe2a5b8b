import { rootLimits } from "./limits.js"

/** What a caller is told about an error that a library threw. */
export interface ForeignAnswer {
  statusCode: number
  code: string
  message: string
  headers?: Record<string, string>
}

/**
 * Errors of addresses, body parsers, PostgreSQL and connections that have an answer of their own, or null for those that are ours to repair. A
 * status alone is not believed: errors of outgoing calls carry one too, and a vendor's 404 must not become our answer.
 */
export function foreignAnswer(error: Error): ForeignAnswer | null {
  if (error.name === "URIError") return bad("The address is not properly percent-encoded")
  return ofBody(error) ?? ofConnection(error) ?? ofDatabase(error)
}

/** co-body's malformed JSON, raw-body's and busboy's http-errors, formidable's, zlib's. */
function ofBody(error: Error): ForeignAnswer | null {
  const { status, expose, httpCode, code, type } = error as unknown as Record<string, unknown>
  if (error.name === "SyntaxError" && status === 400) return bad("The request body is not valid JSON")
  // zlib's own codes, and those of brotli.
  if (typeof code === "string" && /^(Z_|ERR__ERROR_)/.test(code)) return bad("The request body cannot be decompressed")
  if (error.message.startsWith("Unsupported Content-Encoding") && status === 415)
    return unsupported("This Content-Encoding is not supported")
  const refused = expose === true ? status : httpCode
  if (refused === 413) return tooLarge(type === "entity.too.large" ? rootLimits.bodyBytes : rootLimits.uploadBytes)
  if (refused === 415) return unsupported("The request body is of a type or encoding that is not supported")
  return refused === 400 ? bad("The request body is incomplete or malformed") : null
}

/** System errors of a connection that cannot be made, or that broke. */
const brokenConnection = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/
/** PostgreSQL's errors of a connection (08), of too many connections, and of a server that stops or starts. */
const postgresAway = /^(08...|53300|57P0[1235])$/
/** What the driver, its pool and the query builder say without a code. */
const driverAway =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end|driver has already been destroyed)/

/** A service that does not answer, the database first of all; the mapper's own errors keep the driver's code and message. */
function ofConnection(error: Error): ForeignAnswer | null {
  const { code, severity } = error as unknown as Record<string, unknown>
  if (typeof code === "string") {
    const pattern = typeof severity === "string" ? postgresAway : brokenConnection
    return pattern.test(code) ? unavailable : null
  }
  return driverAway.test(error.message) ? unavailable : null
}

/** What validation should have caught: a malformed value (22P02), or U+0000 in text (22021) or in JSON (22P05). */
function ofDatabase(error: Error): ForeignAnswer | null {
  const { code, severity } = error as unknown as Record<string, unknown>
  if (typeof severity !== "string") return null
  if (code === "22021" || code === "22P05") return bad("Text must not contain the character U+0000")
  return code === "22P02" ? bad("A value is not of the form that its field needs") : null
}

const bad = (message: string) => ({ statusCode: 400, code: "BAD_USER_INPUT", message })

const unsupported = (message: string) => ({ statusCode: 415, code: "UNSUPPORTED_MEDIA_TYPE", message })

const unavailable = {
  statusCode: 503,
  code: "SERVICE_UNAVAILABLE",
  message: "The service is not available at the moment: try again in a few seconds",
  headers: { "Retry-After": String(rootLimits.unavailableRetrySeconds) },
}

const tooLarge = (bytes: number) => ({
  statusCode: 413,
  code: "PAYLOAD_TOO_LARGE",
  message: `The request is larger than ${Math.floor(bytes / 1024 / 1024)} MB`,
})
