import { rootLimits } from "../limits.js"

/** The caller's error for an error that a library threw. */
export interface ForeignAnswer {
  statusCode: number
  code: string
  message: string
  headers?: Record<string, string>
}

/**
 * Maps errors of URLs, body parsers, PostgreSQL and connections to the caller's errors; null for unexpected errors. A status alone is not
 * evidence, because errors of outgoing requests have one too: a vendor's 404 must not become the response.
 */
export function foreignAnswer(error: Error): ForeignAnswer | null {
  if (error.name === "URIError") return bad("The URL is not correctly percent-encoded")
  return ofBody(error) ?? ofConnection(error) ?? ofDatabase(error)
}

/** Errors of body parsers: co-body, raw-body, busboy, formidable and zlib. */
function ofBody(error: Error): ForeignAnswer | null {
  const { status, expose, httpCode, code, type } = error as unknown as Record<string, unknown>
  // In the words of co-body, for a string, a number, true, false and null.
  if (error.message === "invalid JSON, only supports object and array") return bad("The request body must be a JSON object")
  if (error.name === "SyntaxError" && status === 400) return bad("The request body is not valid JSON")
  // Codes of zlib and brotli.
  if (typeof code === "string" && /^(Z_|ERR__ERROR_)/.test(code)) return bad("The request body cannot be decompressed")
  if (error.message.startsWith("Unsupported Content-Encoding") && status === 415)
    return unsupported("This Content-Encoding is not supported")
  const refused = expose === true ? status : httpCode
  if (refused === 413) return tooLarge(type === "entity.too.large" ? rootLimits.bodyBytes : rootLimits.uploadBytes)
  if (refused === 415) return unsupported("The type or the encoding of the request body is not supported")
  return refused === 400 ? bad("The request body is incomplete or malformed") : null
}

/** System errors of a connection that failed. */
const brokenConnection = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/
/** PostgreSQL's codes for connection errors (08), too many connections, a server that stops or starts, and a password that it does not take. */
const postgresAway = /^(08...|28P01|53300|57P0[1235])$/
/** Messages of the driver, its pool and the query builder, which have no code. */
const driverAway =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end|SASL: .*client password must be a string|driver has already been destroyed)/

/** A service, such as the database, that does not answer; MikroORM's errors keep the code and message of the driver. */
function ofConnection(error: Error): ForeignAnswer | null {
  const { code, severity } = error as unknown as Record<string, unknown>
  if (typeof code === "string") {
    const pattern = typeof severity === "string" ? postgresAway : brokenConnection
    return pattern.test(code) ? unavailable : null
  }
  return driverAway.test(error.message) ? unavailable : null
}

/**
 * Transactions that PostgreSQL ended because of another one (40P01, a deadlock; 40001), and values that validation did not catch: malformed ones
 * (22P02), and U+0000 in text (22021) or in JSON (22P05).
 */
function ofDatabase(error: Error): ForeignAnswer | null {
  const { code, severity } = error as unknown as Record<string, unknown>
  if (typeof severity !== "string") return null
  if (code === "40P01" || code === "40001") return interrupted
  if (code === "22021" || code === "22P05") return bad("Text must not contain the character U+0000")
  return code === "22P02" ? bad("A value does not have the format of its field") : null
}

const bad = (message: string) => ({ statusCode: 400, code: "BAD_USER_INPUT", message })

const unsupported = (message: string) => ({ statusCode: 415, code: "UNSUPPORTED_MEDIA_TYPE", message })

const unavailable = {
  statusCode: 503,
  code: "SERVICE_UNAVAILABLE",
  message: "The service is not available at the moment: try again in a few seconds",
  headers: { "Retry-After": String(rootLimits.unavailableRetrySeconds) },
}

const interrupted = { ...unavailable, message: "Another change came in between, and nothing was changed: try again" }

const tooLarge = (bytes: number) => ({
  statusCode: 413,
  code: "PAYLOAD_TOO_LARGE",
  message: `The request is larger than ${Math.floor(bytes / 1024 / 1024)} MB`,
})
