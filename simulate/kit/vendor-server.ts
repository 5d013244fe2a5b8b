import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { Faults, type OneFault } from "./faults.js"

/** A request that a stand-in received. */
export interface VendorCall {
  method: string
  /** Without the query. */
  path: string
  query: URLSearchParams
  /** Names in lower case. */
  headers: IncomingHttpHeaders
  body: Buffer
  /** The body as JSON; undefined when it is none. */
  json: unknown
  /** Values of the route's `:names`. */
  params: Record<string, string>
  /** The fields of a multipart or urlencoded body; throws for another. */
  form(): Promise<FormData>
  /** The status of the response; null when there was none. */
  status: number | null
}

/** The response of a stand-in; 200 and JSON unless it says otherwise. */
export interface VendorAnswer {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  /** In place of JSON. */
  body?: string | Buffer
}

export type Route = (call: VendorCall) => VendorAnswer | Promise<VendorAnswer>

/** A vendor's words for what goes wrong before a request is handled. */
export interface VendorWords {
  /** The response 429. */
  tooMany(retryAfter: number): VendorAnswer
  /** The response 500. */
  broken(): VendorAnswer
  /** The response to a path without a route. */
  unknown(call: VendorCall): VendorAnswer
}

export interface VendorServerOptions {
  faults?: Faults
  /** How late a delayed response is. */
  delayMs?: number
}

/** HTTP server of a stand-in: routes such as `POST /bot:token/:method` (`URLPattern`), a log of requests, and faults. */
export class VendorServer {
  /** All requests, in order. */
  readonly calls: VendorCall[] = []
  readonly faults: Faults
  url = ""
  private readonly server = createServer((request, response) => void this.handle(request, response))
  private readonly routes: { method: string; pattern: URLPattern; route: Route }[]
  private readonly delayMs: number
  private readonly planned: VendorAnswer[] = []

  constructor(
    routes: Record<string, Route>,
    private readonly words: VendorWords,
    { faults = new Faults(), delayMs = 50 }: VendorServerOptions = {},
  ) {
    this.faults = faults
    this.delayMs = delayMs
    this.routes = Object.entries(routes).map(([name, route]) => {
      const [method = "", pathname = ""] = name.split(" ")
      return { method, pattern: new URLPattern({ pathname }), route }
    })
  }

  /** Starts on loopback; port 0 is a free one. */
  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => this.server.once("error", reject).listen(port, "127.0.0.1", resolve))
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
    return this
  }

  async close() {
    const closed = new Promise((resolve) => this.server.close(resolve))
    this.disconnect()
    await closed
  }

  /** Ends every connection: a request that hangs fails at once. */
  disconnect() {
    this.server.closeAllConnections()
  }

  /** Sends this response to the next request, in place of handling it. */
  answerNext(answer: VendorAnswer) {
    this.planned.push(answer)
  }

  private async handle(request: IncomingMessage, response: ServerResponse) {
    const body = await buffer(request).catch(() => null)
    if (!body) return
    const call = callOf(request, body)
    this.calls.push(call)
    // A caller may disconnect before it has read the response.
    response.on("error", () => {})
    const fault = this.faults.ofCall(call.path, call.body)
    const cut = () => void request.socket.resetAndDestroy()
    if (fault?.fault === "drop") return
    if (fault?.fault === "reset") return cut()
    const answer = await this.answer(call, fault)
    if (fault?.fault === "hang") return
    if (fault?.fault === "reset-after") return cut()
    if (fault?.fault === "delay") await (fault.until ?? new Promise((resolve) => setTimeout(resolve, this.delayMs)))
    const { status = 200, headers = {}, json, body: bytes = JSON.stringify(json ?? {}) } = answer
    call.status = status
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(bytes)
  }

  private async answer(call: VendorCall, fault: OneFault | null): Promise<VendorAnswer> {
    if (fault?.fault === "429") return this.words.tooMany(fault.retryAfter ?? 1)
    if (fault?.fault === "500") return this.words.broken()
    const planned = this.planned.shift()
    if (planned) return planned
    for (const { method, pattern, route } of this.routes) {
      const match = method === call.method && pattern.exec({ pathname: call.path })
      if (!match) continue
      call.params = decoded(match.pathname.groups)
      return await route(call)
    }
    return this.words.unknown(call)
  }
}

const decoded = (groups: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(groups).map(([name, value = ""]) => [name, decodeURIComponent(value)]))

function callOf(request: IncomingMessage, body: Buffer): VendorCall {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://vendor")
  const contentType = request.headers["content-type"] ?? ""
  return {
    method: request.method ?? "",
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body,
    json: jsonOf(body),
    params: {},
    form: () => new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData(),
    status: null,
  }
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
