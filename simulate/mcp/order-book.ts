import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { Misbehaviour } from "./misbehaviour.js"
import { listOf, type Order, ordersOf, run, type ToolName } from "./orders.js"

/** A call that the order book has carried out. */
export interface DoneCall {
  tool: ToolName
  arguments: Record<string, unknown>
  /** The caller's stable ID of the call. */
  key: string | null
}

export interface OrderBookOptions {
  port?: number
  /** The token that requests must carry as `Authorization: Bearer …`; without one, anybody may use it. */
  token?: string
  /** Is called with a line about each call. */
  show?: (line: string) => void
}

/** A small MCP server to try the platform with: an order book with three tools, which speaks both ages of the protocol. */
export class OrderBook {
  readonly orders: Order[] = ordersOf()
  /** The calls that were carried out, in order, also those whose response was lost. */
  readonly done: DoneCall[] = []
  /** The methods of all requests, in order. */
  readonly requests: string[] = []
  readonly faults = new Misbehaviour()
  private readonly http = createServer((request, response) => void this.serve(request, response))
  private readonly handler = createMcpHandler(() => this.instance())

  private constructor(private readonly options: OrderBookOptions) {}

  /** Starts it on this machine. */
  static async start(options: OrderBookOptions = {}): Promise<OrderBook> {
    const book = new OrderBook(options)
    await new Promise<void>((resolve, reject) => book.http.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve))
    return book
  }

  get url() {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`
  }

  async close() {
    const closed = new Promise((resolve) => this.http.close(resolve))
    this.http.closeAllConnections()
    await closed
  }

  private instance(): Server {
    const server = new Server({ name: "order-book", version: "1.0.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", async ({ params }) => this.faults.shownList(listOf(), params?.cursor) as never)
    server.setRequestHandler("tools/call", async ({ params }) => {
      const key = params._meta?.["Idempotency-Key"]
      return this.call(params.name as ToolName, params.arguments ?? {}, typeof key === "string" ? key : null) as never
    })
    return server
  }

  private call(tool: ToolName, given: Record<string, unknown>, key: string | null) {
    if (this.faults.isVanished(tool)) return { content: [{ type: "text", text: `Unknown tool: ${tool}` }], isError: true }
    this.done.push({ tool, arguments: given, key })
    this.options.show?.(`${tool} ${JSON.stringify(given)}`)
    return run(this.orders, tool, given)
  }

  private async serve(request: IncomingMessage, response: ServerResponse) {
    const body = await buffer(request).catch(() => null)
    if (!body) return
    const method = methodOf(body)
    this.requests.push(method)
    const fault = await this.faults.next(method)
    if (fault === "hang-up") return void request.socket.destroy()
    if (fault === "500") return void response.writeHead(500).end("broken")
    if (fault === "redirect") return void response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end()
    if (this.options.token !== undefined && request.headers.authorization !== `Bearer ${this.options.token}`)
      return void response.writeHead(401, { "www-authenticate": "Bearer" }).end()
    const answer = await this.handler.fetch(
      new Request(new URL(request.url ?? "/", this.url), {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(body.length > 0 && { body }),
      }),
    )
    if (fault === "hang-up-after") return void request.socket.destroy()
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }
}

function methodOf(body: Buffer): string {
  try {
    return String((JSON.parse(body.toString()) as { method?: unknown }).method)
  } catch {
    return "none"
  }
}
