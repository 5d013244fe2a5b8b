import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { sleep } from "../../test/kit/campaign/wait.js"
import type { ToolEndpoint } from "./endpoint.js"

const question = { type: "object", properties: { question: { type: "string" } }, required: ["question"] }

/** An MCP server with one tool: it writes down every call that it carries out, takes its time, and may cut the connection after its work. */
export class McpEndpoint implements ToolEndpoint {
  readonly requests: { callId: string; question: string }[] = []
  readonly #thinksMs = new Map<string, number>()
  readonly #hangsUp = new Set<string>()
  readonly #handler = createMcpHandler(() => this.#instance())
  inHands = 0
  /** Calls that were carried out and whose response was lost. */
  cut = 0

  private constructor(private readonly http: HttpServer) {
    http.on("request", (request, response) => void this.#serve(request, response))
  }

  static async start(): Promise<McpEndpoint> {
    const http = createServer()
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
    return new McpEndpoint(http)
  }

  get url() {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`
  }

  thinks(question: string, ms: number) {
    this.#thinksMs.set(question, ms)
  }

  /** Cuts the connection of the call with this question after its work. */
  hangsUp(question: string) {
    this.#hangsUp.add(question)
  }

  /** Refuses connections for a while, and cuts those that are open. */
  async vanish(ms: number) {
    const { port } = this.http.address() as AddressInfo
    this.close()
    await sleep(ms)
    await new Promise<void>((resolve) => this.http.listen(port, "127.0.0.1", resolve))
  }

  close() {
    this.http.closeAllConnections()
    this.http.close()
  }

  #instance() {
    const server = new Server({ name: "endpoint", version: "1.0.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", async () => ({
      tools: [{ name: "lookUp", description: "Looks something up.", inputSchema: question as never }],
    }))
    server.setRequestHandler("tools/call", async ({ params }) => {
      const { question: asked } = params.arguments as { question: string }
      this.requests.push({ callId: String(params._meta?.["Idempotency-Key"]), question: asked })
      this.inHands += 1
      await sleep(this.#thinksMs.get(asked) ?? 0)
      this.inHands -= 1
      return { content: [{ type: "text", text: "shipped" }] }
    })
    return server
  }

  async #serve(request: IncomingMessage, response: ServerResponse) {
    const body = await buffer(request).catch(() => null)
    if (!body) return
    const headers = request.headers as Record<string, string>
    const answer = await this.#handler.fetch(new Request(this.url, { method: request.method!, headers, ...(body.length > 0 && { body }) }))
    const asked = (JSON.parse(body.toString() || "{}") as { params?: { arguments?: { question?: string } } }).params?.arguments?.question
    if (asked !== undefined && this.#hangsUp.has(asked)) {
      this.cut += 1
      return void request.socket.destroy()
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }
}
