import type { Readable } from "node:stream"
import type { GuardedHttpClient, GuardedStream } from "../kit/guarded-http-client.js"
import { failureOf, GuardedRequestError } from "../kit/guarded-http-client.js"

/** Statuses whose responses have no body (Fetch standard). */
const withoutBody = [204, 205, 304]

/**
 * The HTTP requests of one listing or one call, as the `fetch` of the SDK. All go through the guarded client and share a deadline and a number
 * of bytes that are read; redirects are returned as they are. The request of a tool's call is sent at most once, whatever the SDK wants.
 */
export class Exchange {
  /** Why a request got no whole response; null when all did. */
  fault: GuardedRequestError | null = null
  /** HTTP status of the last response; null before one. */
  status: number | null = null
  /** The header `WWW-Authenticate` of the last response with status 401. */
  challenge: string | null = null
  /** Whether the server sent more than may be read. */
  isTooLarge = false
  private hasCalled = false
  private left: number
  private readonly deadline: AbortSignal
  private readonly signal: AbortSignal

  constructor(
    private readonly httpClient: GuardedHttpClient,
    private readonly limits: { timeoutMs: number; maxBytes: number; signal?: AbortSignal },
  ) {
    this.left = limits.maxBytes
    this.deadline = AbortSignal.timeout(limits.timeoutMs)
    this.signal = limits.signal ? AbortSignal.any([this.deadline, limits.signal]) : this.deadline
  }

  get timeoutMs() {
    return this.limits.timeoutMs
  }

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers).entries())
    const method = init.method ?? "GET"
    // Notifications of the server have no use here; a GET that continues the response of a call is sent.
    if (isNotificationStream(method, headers)) return new Response(null, { status: 405 })
    const body = init.body instanceof URLSearchParams ? init.body.toString() : (init.body as string | null | undefined)
    if (isCall(body)) {
      if (this.hasCalled) throw this.failed(new GuardedRequestError("A call is sent only once", "refused"))
      this.hasCalled = true
    }
    const signal = init.signal ? AbortSignal.any([this.signal, init.signal]) : this.signal
    try {
      return this.response(await this.httpClient.stream(url, { method, headers, ...(body != null && { body }), signal }))
    } catch (error) {
      throw this.failed(error)
    }
  }

  private response({ status, headers, body }: GuardedStream): Response {
    this.status = status
    const given = new Headers()
    for (const [name, value] of Object.entries(headers)) for (const each of [value ?? []].flat()) given.append(name, each)
    if (status === 401) this.challenge = given.get("www-authenticate")
    if (withoutBody.includes(status)) {
      body.resume()
      return new Response(null, { status, headers: given })
    }
    return new Response(ReadableStream.from(this.counted(body)), { status, headers: given })
  }

  /** The body, until the bytes of the exchange are used up. */
  private async *counted(body: Readable): AsyncGenerator<Buffer> {
    try {
      for await (const part of body as AsyncIterable<Buffer>) {
        this.left -= part.length
        this.isTooLarge = this.left < 0
        if (this.isTooLarge) throw new GuardedRequestError(`The server sent more than ${sizeOf(this.limits.maxBytes)}`, "refused")
        yield part
      }
    } catch (error) {
      throw this.failed(error)
    }
  }

  /** Keeps the first fault, in words for the owner of the server. */
  private failed(error: unknown): GuardedRequestError {
    const { timeoutMs, signal } = this.limits
    if (this.deadline.aborted) this.fault ??= new GuardedRequestError(`The server did not answer within ${timeoutMs / 1000} s`, "timeout")
    else if (signal?.aborted) this.fault ??= new GuardedRequestError("The request was stopped", "aborted")
    this.fault ??= failureOf(error)
    return this.fault
  }
}

const sizeOf = (bytes: number) => (bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MB` : `${bytes / 1024} KB`)

const isNotificationStream = (method: string, headers: Record<string, string>) =>
  method === "GET" && (headers["accept"] ?? "").includes("text/event-stream") && headers["last-event-id"] === undefined

function isCall(body: unknown): boolean {
  if (typeof body !== "string" || !body.includes('"tools/call"')) return false
  return (JSON.parse(body) as { method?: unknown }).method === "tools/call"
}
