import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import fc, { type Arbitrary } from "fast-check"
import { happens } from "./answers.js"
import type { Client } from "./client.js"
import type { Generated } from "./generated.js"

/** Makes the bytes of a request, with the headers of a credential. */
type Bytes = (headers: string) => string

const get =
  (path: string): Bytes =>
  (headers) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const post =
  (path: string, body: string, head = `Content-Length: ${Buffer.byteLength(body)}`): Bytes =>
  (headers) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\n${head}\r\n\r\n${body}`

const query = JSON.stringify({ query: "{ chatFolders { id name } }" })

/** Requests that are complete, so that others may follow on the connection. */
const complete: Bytes[] = [
  get("/api/chats?take=2"),
  get("/api/chat-folders"),
  get("/health/live"),
  get("/nothing"),
  get("/%"),
  post("/graphql", query),
  post("/graphql", "{"),
  post("/api/chat-folders", '{"name":""}'),
  post("/graphql", `${query.length.toString(16)}\r\n${query}\r\n0\r\n\r\n`, "Transfer-Encoding: chunked"),
  (headers) => `HEAD /api/chats HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
]

/** Requests that are malformed, incomplete, or contradict themselves. */
const broken: Bytes[] = [
  () => "\r\n\r\n\r\n",
  () => "GET\r\n\r\n",
  () => "GET / HTTP/9.9\r\n\r\n",
  () => "GET / HTTP/1.1\r\n\r\n",
  () => "\u0016\u0003\u0001\u0000",
  () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  () => "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
  (headers) => get(`/${"a".repeat(70_000)}`)(headers),
  (headers) => get("/api/chats")(`${headers}${"X-A: b\r\n".repeat(3_000)}`),
  (headers) => get("/api/chats")(`${headers}X-A: ${"b".repeat(40_000)}\r\n`),
  (headers) => get("/api/chats")(`${headers}Content-Length: -1\r\n`),
  (headers) => get("/api/chats")(`${headers}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`),
  (headers) => get("/api/chats")(`${headers} folded: line\r\n`),
  (headers) => get("/graphql")(`${headers}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n`),
  (headers) => get("/ws")(`${headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n`),
  (headers) => get("/socket.io/?EIO=4&transport=websocket")(`${headers}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
  post("/graphql", query, "Content-Length: 9999"),
  post("/graphql", query, "Content-Length: 5"),
  post("/graphql", query, "Content-Length: 2000000"),
  post("/graphql", "zz\r\n", "Transfer-Encoding: chunked"),
  post("/graphql", "ffffffffffffffff\r\nx", "Transfer-Encoding: chunked"),
  post("/graphql", query, "Expect: nothing\r\nContent-Length: 1"),
  post("/api/media/upload", "--a\r\n", "Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 900000"),
]

/** How a client leaves. */
type Leaving = "reads" | "closes" | "resets" | "half-closes"

interface Conversation {
  requests: Bytes[]
  /** Into so many parts the bytes are cut. */
  parts: number
  leaving: Leaving
}

const conversation: Arbitrary<Conversation> = fc.record({
  requests: fc
    .tuple(fc.array(fc.constantFrom(...complete), { minLength: 1, maxLength: 8 }), fc.option(fc.constantFrom(...broken)))
    .map(([requests, last]) => (last ? [...requests, last] : requests)),
  parts: fc.constantFrom(1, 1, 2, 5),
  leaving: fc.constantFrom<Leaving[]>("reads", "reads", "closes", "resets", "half-closes"),
})

/** Pipelined, cut, malformed and abandoned requests on a bare connection; two connections at once send their parts in turn. */
export const rawRequests: Arbitrary<Generated> = fc
  .tuple(conversation, fc.option(conversation), fc.constantFrom("token" as const, "none" as const))
  .map(([first, second, credential]) => ({
    requests: first.requests.length + (second?.requests.length ?? 0),
    async send(client) {
      const headers = Object.entries(client.company.headersOf(credential))
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("")
      await Promise.all([talk(client, first, headers), ...(second ? [talk(client, second, headers)] : [])])
    },
  }))

/** So long an answer is waited for, on a connection that may legitimately stay open. */
const readMs = 300

async function talk(client: Client, { requests, parts, leaving }: Conversation, headers: string) {
  const { hostname, port } = new URL(client.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let received = ""
  socket.on("error", () => {})
  socket.on("data", (bytes) => {
    received += bytes
  })
  await Promise.race([happens(socket, "connect"), happens(socket, "close")])
  const bytes = requests.map((request) => request(headers)).join("")
  const length = Math.ceil(bytes.length / parts)
  for (let at = 0; at < bytes.length && !socket.destroyed; at += length) {
    socket.write(bytes.slice(at, at + length))
    await sleep(parts > 1 ? 3 : 0)
  }
  await leave(socket, leaving)
  judge(client, received, requests.length)
}

async function leave(socket: Socket, leaving: Leaving) {
  if (leaving === "half-closes") socket.end()
  if (leaving === "reads" || leaving === "half-closes")
    await Promise.race([happens(socket, "close"), happens(socket, "end"), sleep(readMs)])
  if (leaving === "resets") socket.resetAndDestroy()
  else socket.destroy()
}

function judge({ judge }: Client, received: string, sent: number) {
  const key = "Raw connections"
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  judge.text(key, received)
  for (const status of statuses) {
    judge.count(key, status < 400 ? "ok" : String(status))
    if (status >= 500) judge.fault(key, `${status}: ${received.slice(-500)}`)
  }
  for (let index = statuses.length; index < sent; index += 1) judge.count(key, "not read")
}
