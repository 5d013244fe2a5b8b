import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { sleep } from "../../test/kit/campaign/wait.js"

/** What a tool calls. */
export interface ToolEndpoint {
  readonly url: string
  /** What reached it: the call's id, and the customer's question among its arguments. */
  readonly requests: { callId: string; question: string }[]
  /** Requests that wait for their answer. */
  readonly inHands: number
  /** How long it is to take for a question. */
  thinks(question: string, ms: number): void
  close(): void
}

/** An integrator's endpoint: it writes down every request that reaches it, and takes its time to answer. */
export class Endpoint implements ToolEndpoint {
  readonly requests: { callId: string; question: string }[] = []
  readonly #thinksMs = new Map<string, number>()
  inHands = 0

  private constructor(private readonly server: Server) {
    server.on("request", async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      const { question } = JSON.parse(Buffer.concat(parts).toString())
      this.requests.push({ callId: String(request.headers["x-tool-call-id"]), question })
      this.inHands += 1
      await sleep(this.#thinksMs.get(question) ?? 0)
      this.inHands -= 1
      response.end(JSON.stringify({ status: "shipped" }))
    })
  }

  static async start() {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new Endpoint(server)
  }

  get url() {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`
  }

  thinks(question: string, ms: number) {
    this.#thinksMs.set(question, ms)
  }

  close() {
    this.server.closeAllConnections()
    this.server.close()
  }
}
