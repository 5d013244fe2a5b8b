import { type LookupAddress, lookup } from "node:dns"
import { isIP, type LookupFunction, type Socket } from "node:net"
import { isNativeError } from "node:util/types"
import ipaddr from "ipaddr.js"
import { buildConnector, Client as HttpClient } from "undici"
import { portLimits } from "../limits.js"

/** One request to an address that a customer of ours has chosen. */
export interface GuardedRequestOptions {
  method: string
  headers?: Record<string, string>
  body?: Buffer | string
  /** Time for everything, from the name's look-up to the last byte that is read. */
  timeoutMs: number
  /** Most that is read of the answer; the rest is left unread. */
  maxBytes: number
  signal?: AbortSignal
}

/** What came back, whatever its status; redirects are not followed. */
export interface GuardedResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** Whether there was more than `maxBytes`. */
  cut: boolean
}

/** No answer came; `message` is one sentence without internals, fit to be shown to the one who chose the address. */
export class GuardedRequestError extends Error {
  override name = "OutsideFailure"

  constructor(
    message: string,
    readonly reason: "refused" | "timeout" | "unreachable" | "aborted",
  ) {
    super(message)
  }
}

/** The way to addresses that customers choose: webhooks, pages, files, event receivers. Every resolved address is judged when it is connected to. */
export class GuardedHttpClient {
  private readonly connect: (options: buildConnector.Options, done: buildConnector.Callback) => Socket
  private readonly open = new Set<Socket>()

  /** `look` looks names up, as the system does unless another is given. */
  constructor(
    private readonly allowPrivate: boolean,
    look: LookupFunction = lookup,
  ) {
    const options = { allowH2: false, timeout: portLimits.outsideConnectMs, lookup: allowPrivate ? look : onlyPublic(look) }
    // It answers the socket, which its type does not say.
    this.connect = buildConnector(options as buildConnector.BuildOptions) as unknown as GuardedHttpClient["connect"]
  }

  /** Sends exactly one request and reads its answer; throws `OutsideFailure` and nothing else. */
  async request(url: string | URL, wish: GuardedRequestOptions): Promise<GuardedResponse> {
    const deadline = AbortSignal.timeout(wish.timeoutMs)
    const signal = wish.signal ? AbortSignal.any([deadline, wish.signal]) : deadline
    try {
      // Raced, since a client that is still connecting does not hear its signal.
      return await Promise.race([this.exchange(url, wish, signal), aborted(signal)])
    } catch (error) {
      if (deadline.aborted) throw new GuardedRequestError(`The address did not answer within ${wish.timeoutMs / 1000} s`, "timeout")
      if (wish.signal?.aborted) throw new GuardedRequestError("The request was stopped", "aborted")
      throw failureOf(error)
    }
  }

  private async exchange(url: string | URL, wish: GuardedRequestOptions, signal: AbortSignal): Promise<GuardedResponse> {
    const { origin, pathname, search } = new URL(url)
    // No connection is used twice: a kept one may be closed under a request, and its address was judged for another. The deadline covers the rest.
    const client = new HttpClient(origin, { connect: this.judged(signal), pipelining: 0, headersTimeout: 0, bodyTimeout: 0 })
    try {
      const { method, headers = {}, body = null, maxBytes } = wish
      const answer = await client.request({ path: pathname + search, method: method as "GET", headers, body, signal })
      return { status: answer.statusCode, headers: answer.headers, ...(await readUpTo(answer.body, maxBytes)) }
    } finally {
      void client.destroy()
    }
  }

  /** Connects to an address that was judged, unless it is too late; a literal one is never looked up, so the look-up cannot judge it. */
  private judged(signal: AbortSignal): buildConnector.connector {
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

/** Hosts of clouds that tell a machine its secrets, at addresses that look public. */
const metadata = ["168.63.129.16"]

/** The part of IPv6 that is given out to the internet; the rest is reserved, or a dress for something else. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Whether an address belongs to the public internet; an IPv4 address that is dressed as IPv6 is judged as what it is. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== "unicast" || metadata.includes(address.toString())) return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}

const notPublic = () => new GuardedRequestError("The address is not on the public internet", "refused")

/** Looks a name up and refuses it when any of its addresses is not public: which of them is connected to is not ours to say. */
const onlyPublic =
  (look: LookupFunction): LookupFunction =>
  (hostname, options, done) => {
    look(hostname, { ...options, all: true }, (error, found) => {
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

/** What OpenSSL and Node say of a certificate that they do not believe. */
const aboutCertificate = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

function failureOf(error: unknown): GuardedRequestError {
  for (let cause = error; isNativeError(cause); cause = cause.cause) {
    if (cause instanceof GuardedRequestError) return cause
    const code = (cause as NodeJS.ErrnoException).code ?? ""
    const sentence = aboutCertificate.test(code) ? "The address has no valid certificate" : sentences[code]
    if (sentence) return new GuardedRequestError(sentence, "unreachable")
  }
  return new GuardedRequestError("No usable answer came from the address", "unreachable")
}
