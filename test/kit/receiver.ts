import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { happens } from "./wait.js"

/** A raw request: nothing decoded, nothing merged. */
export interface Received {
  method: string
  /** Path and query, unchanged. */
  url: string
  /** Header names in lower case. */
  headers: IncomingMessage["headers"]
  /** Names and values in turn, as sent. */
  rawHeaders: string[]
  body: Buffer
}

/**
 * The response of an endpoint: a status (with `{"ok":true}` where a body is allowed), JSON, a text as it is, or a fault. `hang` never responds, `reset` cuts
 * the connection, `redirect` points to another path of the receiver, `large` is 5 MB of JSON, `text` is not JSON, `drip` never ends.
 */
export type Mode =
  | number
  | { json: unknown; status?: number; headers?: Record<string, string> }
  | { raw: string; status: number }
  | "hang"
  | "reset"
  | "redirect"
  | "large"
  | "text"
  | "drip"

/** An integrator's endpoint. */
export interface Receiver {
  url: string
  /** All requests, in order. */
  requests: Received[]
  /** Number of opened connections. */
  connections: number
  /** Sets the response; 200 by default. A function is called for each request, and may wait. */
  answer(mode: Mode | ((request: Received) => Mode | Promise<Mode>)): void
  /** Resolves when this many requests have arrived. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts an endpoint on this machine. */
export async function receiver(): Promise<Receiver> {
  let answer: (request: Received) => Mode | Promise<Mode> = () => 200
  const waiting: { count: number; tell(): void }[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null)
    if (!body) return
    const { method = "", url = "", headers, rawHeaders } = request
    const came: Received = { method, url, headers, rawHeaders, body }
    made.requests.push(came)
    for (const { tell } of waiting.filter(({ count }) => count <= made.requests.length)) tell()
    respond(request, response, await answer(came))
  })
  const made: Receiver = {
    url: "",
    requests: [],
    connections: 0,
    answer: (mode) => {
      answer = typeof mode === "function" ? mode : () => mode
    },
    arrived: (count) => {
      const came = new Promise<void>((tell) => {
        if (made.requests.length >= count) tell()
        else waiting.push({ count, tell })
      })
      return happens(`the endpoint has ${count} requests`, came, () => made.requests.map(({ method, url }) => `${method} ${url}`))
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  server.on("connection", () => {
    made.connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return made
}

const json = { "Content-Type": "application/json" }

function respond(request: IncomingMessage, response: ServerResponse, mode: Mode) {
  // A caller that has read enough disconnects during the response.
  response.on("error", () => {})
  if (mode === "hang") return
  if (mode === "reset") return void request.socket.resetAndDestroy()
  if (mode === "redirect") return void response.writeHead(302, { Location: "/elsewhere" }).end()
  if (mode === "large") return void response.writeHead(200, json).end(JSON.stringify({ text: "x".repeat(5 * 1024 * 1024) }))
  if (mode === "text") return void response.writeHead(200, { "Content-Type": "text/html" }).end("<p>No JSON</p>")
  if (mode === "drip") return drip(response)
  if (typeof mode === "object" && "raw" in mode) return void response.writeHead(mode.status).end(mode.raw)
  const { status = 200, json: value, headers = {} } = typeof mode === "number" ? { status: mode, json: { ok: true } } : mode
  if (status === 204 || status === 304) response.writeHead(status).end()
  else response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(value))
}

/** Sends blanks for ever: JSON that never begins. */
function drip(response: ServerResponse) {
  response.writeHead(200, json)
  const timer = setInterval(() => response.write(" "), 50)
  response.on("close", () => clearInterval(timer))
}
