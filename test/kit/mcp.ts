import supertest from "supertest"
import { type Credential, headersOf } from "./clients.js"
import { client, dressed, messageIn, type Revision } from "./mcp-messages.js"
import { happens } from "./wait.js"

/** An answer over HTTP: the status, the headers, and the one JSON-RPC message in it. */
export interface McpAnswer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: as JSON-RPC has it.
  body: any
}

/** Posts a body as it is to an address with `/mcp`. */
export async function postMcp(
  url: string,
  credential: Credential,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<McpAnswer> {
  const all = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headersOf(credential), ...headers }
  const request = supertest(url)
    .post("/mcp")
    .set(all)
    .buffer(true)
    .parse((response, done) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => done(null, Buffer.concat(chunks).toString()))
    })
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const response = await happens(`POST /mcp is answered: ${text.slice(0, 200)}`, request.send(text))
  return { status: response.status, headers: response.headers, body: messageIn(response.headers["content-type"], response.body) }
}

/**
 * A client of the platform's MCP server, in one revision of the protocol.
 * @example const agent = mcpClient(() => w.url, acme.token); await agent.call("read_chat", { chatId })
 */
export function mcpClient(url: () => string, credential: Credential, revision: Revision = "2026-07-28") {
  const send = (method: string, params: Record<string, unknown> = {}, more: Record<string, string> = {}) => {
    const { headers, params: whole } = dressed(revision, method, params)
    return postMcp(url(), credential, { jsonrpc: "2.0", id: 1, method, params: whole }, { ...headers, ...more })
  }
  return {
    send,
    /** What an agent does first: `server/discover`, or `initialize` in a revision with sessions. */
    meet: () =>
      revision === "2026-07-28"
        ? send("server/discover")
        : send("initialize", { protocolVersion: revision, capabilities: {}, clientInfo: client }),
    /** The tools that it sees. */
    async list() {
      const { body } = await send("tools/list")
      return body.result.tools
    },
    /** Calls a tool; the response is that of HTTP. */
    request: (name: string, given: Record<string, unknown> = {}, meta?: Record<string, unknown>) =>
      send("tools/call", { name, arguments: given, ...(meta && { _meta: meta }) }),
    /** Calls a tool; the answer is the result. */
    async call(name: string, given: Record<string, unknown> = {}, meta?: Record<string, unknown>) {
      const { body } = await this.request(name, given, meta)
      expect(body.error).toBeUndefined()
      return body.result
    },
  }
}
