import { messageIn } from "../../test/kit/mcp-messages.js"
import type { FitsOpenApi } from "../../test/kit/openapi.js"
import type { HttpAnswer, HttpRequest } from "./client.js"

/** What was answered, by outcome. */
export type Tally = Map<string, number>

/** So many faults are kept: each says the same as hundreds like it. */
const mostFaults = 200

/** Parts of an error's text that show internals of the server. */
const internals = /node_modules|\bat .*\.js:\d|\/src\/|\bselect .* from |syntax error at or near|ECONN|Cannot read prop|is not a function/i

/** What an error is beside its message, in both protocols. */
interface ErrorFields {
  statusCode?: unknown
  code?: unknown
  details?: unknown
  requestId?: unknown
}

/** Judges answers: their statuses, the shape of their errors, and that they hold nothing of another company. */
export class Judge {
  readonly tallies = new Map<string, Tally>()
  readonly faults: string[] = []
  #requests = 0

  constructor(
    /** The text that all data of the other company contains. */
    private readonly foreignMarker: string,
    private readonly fits: FitsOpenApi,
  ) {}

  get requests() {
    return this.#requests
  }

  /** Counts an outcome of an operation, a route or a kind of noise. */
  count(key: string, outcome: string) {
    const tally = this.tallies.get(key) ?? new Map()
    this.tallies.set(key, tally)
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
    this.#requests += 1
  }

  /** Notes that something must not have happened. */
  fault(key: string, what: string) {
    if (this.faults.length < mostFaults) this.faults.push(`${key}: ${what.slice(0, 1_000)}`)
  }

  /** Judges a text that a credential of the company received. */
  text(key: string, text: string) {
    if (text.includes(this.foreignMarker)) this.fault(key, `shows data of another company: ${text.slice(0, 300)}`)
  }

  /** Judges a response over HTTP, and counts it. */
  answer(request: HttpRequest, answer: HttpAnswer) {
    const { key, method, path } = request
    const { status, headers, text, body } = answer
    const asked = `${method} ${path.slice(0, 300)} ${String(request.body ?? "").slice(0, 200)}`
    this.text(key, text)
    if (status >= 500) this.fault(key, `${status} for ${asked}: ${text.slice(0, 200)}`)
    if (!headers["x-request-id"]) this.fault(key, `no X-Request-Id for ${asked}`)
    if (method === "POST" && path === "/mcp") return this.mcpMessage(key, answer, asked)
    const isGraphql = path.split("?")[0] === "/graphql"
    if (isGraphql && Array.isArray(body?.errors)) this.graphqlErrors(key, body.errors, asked)
    else if (status >= 400 && method !== "HEAD") this.restError(key, answer, asked)
    if (key.startsWith("REST ") && method !== "HEAD" && status !== 304) this.schema(key, request, answer)
    this.count(key, isGraphql ? outcomeOf(body, status) : outcomeOfRest(answer))
  }

  /** Judges errors of GraphQL, over HTTP or a socket. */
  graphqlErrors(key: string, errors: unknown[], asked: string) {
    if (errors.length === 0) this.fault(key, `an empty list of errors for ${asked}`)
    for (const error of errors as { message?: unknown; extensions?: ErrorFields }[])
      this.error(key, { ...error.extensions, message: error.message }, asked)
  }

  /** Judges the one message of JSON-RPC in a response: a result, whose error has the contract's shape, or an error of the protocol. */
  private mcpMessage(key: string, { status, headers, text }: HttpAnswer, asked: string) {
    // biome-ignore lint/suspicious/noExplicitAny: a message of JSON-RPC.
    const message = messageIn(headers["content-type"], text) as any
    if (message === null && status === 202) return this.count(key, "accepted")
    const { jsonrpc, result, error } = message ?? {}
    const isProtocolError = error && Number.isInteger(error.code) && typeof error.message === "string" && error.message !== ""
    if (jsonrpc !== "2.0" || (!isProtocolError && !result) || (status >= 400 && !isProtocolError))
      this.fault(key, `${status} is no message of JSON-RPC for ${asked}: ${text.slice(0, 200)}`)
    if (isProtocolError && internals.test(error.message) && !internals.test(asked))
      this.fault(key, `shows internals for ${asked}: ${error.message}`)
    if (error?.data?.statusCode) this.error(key, error.data, asked)
    if (result?.isError) this.error(key, result.structuredContent ?? {}, asked)
    this.count(key, result?.isError ? result.structuredContent?.code : result ? "ok" : (error?.data?.code ?? `BAD_USER_INPUT`))
  }

  private restError(key: string, { status, body, text, headers }: HttpAnswer, asked: string) {
    // A browser that asks for an unknown address gets a page.
    if (status === 404 && /text\/html/.test(headers["content-type"] ?? "")) return
    if (body === null) return this.fault(key, `${status} without JSON for ${asked}: ${text.slice(0, 100)}`)
    this.error(key, body, asked)
    if (body.statusCode !== status || typeof body.error !== "string")
      this.fault(key, `${status} is not the error's own for ${asked}: ${text}`)
    if (body.requestId !== headers["x-request-id"]) this.fault(key, `the request ID of the body is not the header's for ${asked}`)
  }

  private error(key: string, { statusCode, code, details, requestId, message }: ErrorFields & { message: unknown }, asked: string) {
    const isWhole =
      Number.isInteger(statusCode) &&
      typeof code === "string" &&
      Array.isArray(details) &&
      typeof requestId === "string" &&
      typeof message === "string" &&
      message !== ""
    if (!isWhole)
      this.fault(key, `an error of another shape for ${asked}: ${JSON.stringify({ statusCode, code, details, requestId, message })}`)
    if (Number(statusCode) >= 500) this.fault(key, `${statusCode} for ${asked}: ${message}`)
    // The value that the client has sent may be quoted.
    if (internals.test(String(message).replace(/got invalid value .*?(?=;|$)/s, "")) && !internals.test(asked))
      this.fault(key, `shows internals for ${asked}: ${message}`)
  }

  private schema(key: string, { method, path }: HttpRequest, answer: HttpAnswer) {
    try {
      this.fits(method.toLowerCase(), path, { status: answer.status, headers: answer.headers as Record<string, string>, body: answer.body })
    } catch (error) {
      this.fault(key, (error as Error).message)
    }
  }
}

/** The code of the first error, or `ok`. */
// biome-ignore lint/suspicious/noExplicitAny: a response of GraphQL.
export const outcomeOf = (body: any, status = 200): string =>
  body?.errors?.[0]?.extensions?.code ?? (body?.data === undefined ? String(status) : "ok")

const outcomeOfRest = ({ status, body }: HttpAnswer) => (status < 400 ? "ok" : (body?.code ?? String(status)))

/** Outcomes after which it is not certain that a request has come further than its credentials and its form. */
const shallow =
  /^(UNAUTHENTICATED|FORBIDDEN|RATE_LIMITED|BAD_USER_INPUT|GRAPHQL_\w+|PAYLOAD_TOO_LARGE|UNSUPPORTED_MEDIA_TYPE|METHOD_NOT_ALLOWED|4\d\d)$/

/** Whether an outcome shows that an operation was run. */
export const isDeep = (outcome: string) => !shallow.test(outcome)
