import { type LookupAddress, lookup } from "node:dns"
import { isIP, type LookupFunction, type Socket } from "node:net"
import type { Readable } from "node:stream"
import { isNativeError } from "node:util/types"
import ipaddr from "ipaddr.js"
import { buildConnector, Client as HttpClient } from "undici"
import { portLimits } from "../limits.js"
import { Deadline } from "./deadline.js"

/** A request to a URL that a customer has chosen. */
export interface GuardedRequestOptions {
  method: string
  headers?: Record<string, string>
  body?: Buffer | string
  /** Timeout of the whole request, from the DNS lookup to the last byte. */
  timeoutMs: number
  /** Most bytes that are read of the response; the rest is discarded. */
  maxBytes: number
  signal?: AbortSignal
}

/** A response while it arrives. */
export interface GuardedStream {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** Must be read to its end or destroyed. Its errors are those of `request()`. */
  body: Readable
}

/** A response of any status; redirects are not followed. */
export interface GuardedResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** Whether the response was longer than `maxBytes`. */
  cut: boolean
}

/** Thrown when there is no response; `message` is one sentence without internals that may be shown to the owner of the URL. */
export class GuardedRequestError extends Error {
  override name = "GuardedRequestError"

  constructor(
    message: string,
    readonly reason: "refused" | "timeout" | "unreachable" | "aborted",
  ) {
    super(message)
  }
}

/** HTTP client for URLs that companies choose: webhooks, pages, files, event receivers. It checks every address that it connects to. */
export class GuardedHttpClient {
  private readonly connect: (options: buildConnector.Options, done: buildConnector.Callback) => Socket
  private readonly open = new Set<Socket>()

  /** `look` resolves names; the default is the resolver of the system. */
  constructor(
    private readonly allowPrivate: boolean,
    resolveName: LookupFunction = lookup,
  ) {
    const options = { allowH2: false, timeout: portLimits.guardedConnectMs, lookup: allowPrivate ? resolveName : onlyPublic(resolveName) }
    // It returns the socket, which its type does not declare.
    this.connect = buildConnector(options as buildConnector.BuildOptions) as unknown as GuardedHttpClient["connect"]
  }

  /** Sends exactly one request and reads its response; throws only `GuardedRequestError`. */
  async request(url: string | URL, options: GuardedRequestOptions): Promise<GuardedResponse> {
    using deadline = new Deadline(options.timeoutMs, options.signal)
    try {
      // A race, because a client that is still connecting ignores its signal.
      return await Promise.race([this.exchange(url, options, deadline.signal), aborted(deadline.signal)])
    } catch (error) {
      if (deadline.isOver) throw new GuardedRequestError(`The address did not answer within ${options.timeoutMs / 1000} s`, "timeout")
      if (options.signal?.aborted) throw new GuardedRequestError("The request was stopped", "aborted")
      throw failureOf(error)
    }
  }

  /** Sends exactly one request and returns its response while it arrives; throws only `GuardedRequestError`. The signal ends it at any time. */
  async stream(url: string | URL, options: StreamOptions & { signal: AbortSignal }): Promise<GuardedStream> {
    const { signal } = options
    const client = this.clientOf(url, signal)
    try {
      const answer = await Promise.race([send(client, url, options, signal), aborted(signal)])
      answer.body.once("close", () => void (answer.body.readableEnded ? client.close() : client.destroy()))
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    } catch (error) {
      void client.destroy()
      throw failureOf(error)
    }
  }

  /** Connections are not reused: an idle one may close during a request, and its address was checked for another. One deadline covers all. */
  private clientOf(url: string | URL, signal: AbortSignal) {
    const connect = this.checkedConnector(signal)
    return new HttpClient(new URL(url).origin, { connect, pipelining: 0, headersTimeout: 0, bodyTimeout: 0 })
  }

  private async exchange(url: string | URL, options: GuardedRequestOptions, signal: AbortSignal): Promise<GuardedResponse> {
    const client = this.clientOf(url, signal)
    let isRead = false
    try {
      const { maxBytes } = options
      const answer = await send(client, url, options, signal)
      const read = await readUpTo(answer.body, maxBytes)
      isRead = !read.cut
      return { status: answer.statusCode, headers: answer.headers, ...read }
    } finally {
      // Without pipelining the connection ends with its response; destroying it would cost an error with its stack.
      void (isRead ? client.close() : client.destroy())
    }
  }

  /** Connects to a checked address before the deadline; a literal address causes no lookup and is checked here. */
  private checkedConnector(signal: AbortSignal): buildConnector.connector {
    return (options, done) => {
      if (signal.aborted) return done(signal.reason, null)
      const literal = options.hostname.replace(/^\[|\]$/g, "")
      if (!this.allowPrivate && isIP(literal) && !isPublic(literal)) return done(notPublic(), null)
      const socket = this.connect(options, done)
      this.open.add(socket)
      socket.once("close", () => this.open.delete(socket))
      signal.addEventListener("abort", () => socket.destroy(signal.reason), { once: true })
    }
  }

  close() {
    for (const socket of this.open) socket.destroy()
  }
}

type StreamOptions = Pick<GuardedRequestOptions, "method" | "headers" | "body">

function send(client: HttpClient, url: string | URL, options: StreamOptions, signal: AbortSignal) {
  const { method, headers = {}, body = null } = options
  const { pathname, search } = new URL(url)
  return client.request({ path: pathname + search, method: method as "GET", headers, body, signal })
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  })

async function readUpTo(stream: AsyncIterable<Buffer> & { destroy(): unknown }, maxBytes: number) {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream) {
    parts.push(part)
    size += part.length
    if (size > maxBytes) break
  }
  return { body: Buffer.concat(parts).subarray(0, maxBytes), cut: size > maxBytes }
}

/** Cloud metadata services at addresses that look public. */
const metadata = ["168.63.129.16"]

/** The allocated global unicast range of IPv6; the rest is reserved or embeds other addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Whether an address is public; an IPv4 address embedded in IPv6 is checked as IPv4. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== "unicast" || metadata.includes(address.toString())) return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}

const notPublic = () => new GuardedRequestError("The address is not on the public internet", "refused")

/** Resolves a name and refuses it when any of its addresses is not public, since any of them may be connected to. */
const onlyPublic =
  (resolveName: LookupFunction): LookupFunction =>
  (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "")
      const addresses = found as LookupAddress[]
      if (addresses.length === 0 || addresses.some(({ address }) => !isPublic(address))) return done(notPublic(), "")
      if (options.all) return done(null, addresses)
      done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }

const sentences: Record<string, string> = {
  ENOTFOUND: "The host of the address was not found",
  EAI_AGAIN: "The host of the address was not found",
  ECONNREFUSED: "The address refused the connection",
  EHOSTUNREACH: "The address cannot be reached",
  ENETUNREACH: "The address cannot be reached",
  ETIMEDOUT: "The address accepted no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "The address accepted no connection in time",
  ECONNRESET: "The connection was closed before an answer came",
  UND_ERR_SOCKET: "The connection was closed before an answer came",
}

/** Error codes of OpenSSL and Node for untrusted certificates. */
const aboutCertificate = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

/** The error of a request that got no whole response. */
export function failureOf(error: unknown): GuardedRequestError {
  for (let cause = error; isNativeError(cause); cause = cause.cause) {
    if (cause instanceof GuardedRequestError) return cause
    const code = (cause as NodeJS.ErrnoException).code ?? ""
    const sentence = aboutCertificate.test(code) ? "The address has no valid certificate" : sentences[code]
    if (sentence) return new GuardedRequestError(sentence, "unreachable")
  }
  return new GuardedRequestError("No usable answer came from the address", "unreachable")
}
