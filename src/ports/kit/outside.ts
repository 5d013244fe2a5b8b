import { type LookupAddress, lookup } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { isNativeError } from "node:util/types"
import ipaddr from "ipaddr.js"
import { Agent, buildConnector, request } from "undici"
import { limits } from "../../limits.js"

/** One request to an address that a customer of ours has chosen. */
export interface OutsideRequest {
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
export interface OutsideAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** Whether there was more than `maxBytes`. */
  cut: boolean
}

/** No answer came; `message` is one sentence without internals, fit to be shown to the one who chose the address. */
export class OutsideFailure extends Error {
  override name = "OutsideFailure"

  constructor(
    message: string,
    readonly reason: "refused" | "timeout" | "unreachable" | "aborted",
  ) {
    super(message)
  }
}

/** The way to addresses that customers choose: webhooks, pages, files, event receivers. Every resolved address is judged when it is connected to. */
export class Outside {
  private readonly agent: Agent

  /** `look` looks names up, as the system does unless another is given. */
  constructor(allowPrivate: boolean, look: LookupFunction = lookup) {
    const connect = buildConnector({
      allowH2: false,
      timeout: limits.outsideConnectMs,
      lookup: allowPrivate ? look : onlyPublic(look),
    } as buildConnector.BuildOptions)
    this.agent = new Agent({
      // No connection is used twice: a kept one may be closed under a request, and its address was judged for another.
      pipelining: 0,
      connect: (options, done) => {
        // A literal address is never looked up, so the look-up cannot judge it.
        const literal = options.hostname.replace(/^\[|\]$/g, "")
        if (!allowPrivate && isIP(literal) && !isPublic(literal)) done(notPublic(), null)
        else connect(options, done)
      },
    })
  }

  /** Sends exactly one request and reads its answer; throws `OutsideFailure` and nothing else. */
  async request(url: string | URL, wish: OutsideRequest): Promise<OutsideAnswer> {
    const deadline = AbortSignal.timeout(wish.timeoutMs)
    const signal = wish.signal ? AbortSignal.any([deadline, wish.signal]) : deadline
    try {
      const answer = await request(url, {
        dispatcher: this.agent,
        method: wish.method as "GET",
        ...(wish.headers && { headers: wish.headers }),
        ...(wish.body !== undefined && { body: wish.body }),
        signal,
        // The deadline covers these.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      return { status: answer.statusCode, headers: answer.headers, ...(await readUpTo(answer.body, wish.maxBytes)) }
    } catch (error) {
      if (deadline.aborted) throw new OutsideFailure(`The address did not answer within ${wish.timeoutMs / 1000} s`, "timeout")
      if (wish.signal?.aborted) throw new OutsideFailure("The request was stopped", "aborted")
      throw failureOf(error)
    }
  }

  async close() {
    await this.agent.destroy()
  }
}

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

const notPublic = () => new OutsideFailure("The address is not on the public internet", "refused")

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

function failureOf(error: unknown): OutsideFailure {
  for (let cause = error; isNativeError(cause); cause = cause.cause) {
    if (cause instanceof OutsideFailure) return cause
    const sentence = sentences[(cause as NodeJS.ErrnoException).code ?? ""]
    if (sentence) return new OutsideFailure(sentence, "unreachable")
  }
  return new OutsideFailure("No usable answer came from the address", "unreachable")
}
