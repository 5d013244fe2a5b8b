import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { answerOrders } from "./helper.js"
import { listedTool, mcpToolName, tagIn, toolName } from "./words.js"

/** What the model, the endpoint of the tool and the connector saw since the last reset. */
export interface Seen {
  /** Requests to the model, how many of them ended a turn, and calls of the tool. */
  asked: number
  concluded: number
  called: number
  /** Messages that the connector of the bridge took, and when the first one came, in milliseconds since the epoch. */
  delivered: number
  firstDeliveryAt: number
  /** Milliseconds that the model took for each customer's question, by the question's tag; all of its requests together. */
  tookMs: Record<string, number>
}

/** Forgets what was seen and sets the model's time, returns what was seen since (a number alone, or all of it), or returns the address. */
export type StandInOrder = { reset: { thinkMs: number } } | "concluded" | "delivered" | "seen" | "address"

const text = "The parcel left our warehouse this morning and should reach you tomorrow."
const usage = { prompt_tokens: 240, completion_tokens: 14, total_tokens: 254 }

let thinkMs = 0
const nothing = (): Seen => ({ asked: 0, concluded: 0, called: 0, delivered: 0, firstDeliveryAt: 0, tookMs: {} })
let seen = nothing()

const mcp = createMcpHandler(() => {
  const instance = new Server({ name: "orders", version: "1.0.0" }, { capabilities: { tools: {} } })
  instance.setRequestHandler("tools/list", async () => ({ tools: [listedTool as never] }))
  instance.setRequestHandler("tools/call", async ({ params }) => {
    seen.called += 1
    const found = { status: "shipped", carrier: "Northwind Express", number: String(params.arguments?.["question"]) }
    return { content: [{ type: "text", text: JSON.stringify(found) }] }
  })
  return instance
})

async function answerMcp(request: IncomingMessage, body: string, response: ServerResponse) {
  const headers = request.headers as Record<string, string>
  const answer = await mcp.fetch(new Request("http://127.0.0.1/mcp", { method: request.method!, headers, body: body || null }))
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request)
  if (request.url === "/mcp") return answerMcp(request, body, response)
  if (request.url === "/tool") {
    seen.called += 1
    return send(response, { status: "shipped", carrier: "Northwind Express", number: tagIn(body) })
  }
  if (request.url === "/deliver") {
    if (seen.delivered++ === 0) seen.firstDeliveryAt = Date.now()
    return send(response, { externalId: `connector-${JSON.parse(body).messageId}` })
  }
  // Telegram takes whatever it is asked at connect.
  if (request.url!.startsWith("/bot")) return send(response, { ok: true, result: true })
  await answer(body, response)
})

/** Both in OpenAI's format: a call of the tool where it is offered and has no result yet, otherwise the answer. */
async function answer(body: string, response: ServerResponse) {
  const begin = performance.now()
  const now = seen
  now.asked += 1
  if (thinkMs > 0) await sleep(thinkMs)
  const tag = tagIn(body)
  if (!tag || body.includes('"stream":true')) return response.writeHead(400).end()
  const name = [mcpToolName, toolName].find((each) => body.includes(`"${each}"`))
  const calls = name !== undefined && !body.includes('"role":"tool"')
  const call = { id: `call-${tag}`, type: "function", function: { name, arguments: JSON.stringify({ question: tag }) } }
  const message = { role: "assistant", ...(calls ? { content: null, tool_calls: [call] } : { content: text }) }
  const choices = [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }]
  send(response, { id: `chatcmpl-${tag}`, object: "chat.completion", created: 1_750_000_000, model: "stand-in", choices, usage })
  now.tookMs[tag] = (now.tookMs[tag] ?? 0) + performance.now() - begin
  if (!calls) now.concluded += 1
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

function send(response: ServerResponse, value: object) {
  const body = JSON.stringify(value)
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body)
}

// The servers keep their connections for as long as they like.
server.keepAliveTimeout = 600_000
const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))

answerOrders<StandInOrder>(async (order) => {
  await listening
  if (order === "address") return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  if (order === "delivered") return { delivered: seen.delivered }
  if (order === "concluded") return { concluded: seen.concluded }
  if (order === "seen") return seen
  thinkMs = order.reset.thinkMs
  seen = nothing()
  return {}
})
