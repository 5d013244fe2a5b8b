import { setTimeout as sleep } from "node:timers/promises"
import fc, { type Arbitrary } from "fast-check"
import { WebSocket } from "ws"
import { happens } from "./answers.js"
import type { Client } from "./client.js"
import { anyCredential, type Generated } from "./generated.js"
import type { Operation, RootField } from "./graphql-operations.js"
import { bodyOf, harvestOperation } from "./graphql-requests.js"
import { outcomeOf } from "./judge.js"

/** A message that a client sends after its session was opened: an operation, or the text of another message. */
type Message = Operation | string | Buffer

const noise: (string | Buffer)[] = [
  '{"type":"ping"}',
  '{"type":"ping","payload":{"a":1}}',
  '{"type":"pong"}',
  '{"type":"complete","id":"1"}',
  '{"type":"complete","id":"never"}',
  '{"type":"complete"}',
  '{"type":"subscribe","id":"2","payload":{"query":"{ __typename }"}}',
  '{"type":"subscribe","id":"2","payload":{"query":"subscription { events { id } }"}}',
  '{"type":"subscribe","id":"3","payload":{"query":"{"}}',
  '{"type":"subscribe","id":"4","payload":{"query":"{ __typename }","variables":"x"}}',
  '{"type":"subscribe","id":"5","payload":{"query":"query A { __typename } query B { __typename }","operationName":"C"}}',
  '{"type":"subscribe","id":"__proto__","payload":{"query":"{ __typename }","extensions":{"a":1}}}',
  JSON.stringify({ type: "subscribe", id: "6", payload: { query: `{ ${"a: __typename ".repeat(1_200)} }` } }),
  JSON.stringify({ type: "subscribe", id: "7", payload: { query: 'subscription { events(after: "e:0") { id type payload } }' } }),
  JSON.stringify({ type: "subscribe", id: "8", payload: { query: `{ ...f } fragment f on Query { ...f }` } }),
  // After these the server has to close.
  '{"type":"subscribe"}',
  '{"type":"subscribe","id":1,"payload":{}}',
  '{"type":"subscribe","id":"","payload":{"query":null}}',
  '{"type":"connection_init"}',
  '{"type":"connection_ack"}',
  '{"type":"next","id":"1","payload":{}}',
  '{"type":"unknown"}',
  "{}",
  "[]",
  "null",
  "{",
  "",
  "\u0000",
  `{"type":"ping","payload":${"[".repeat(20_000)}`,
  "x".repeat(1_048_600),
  Buffer.from([0xff, 0xfe, 0x00]),
]

const firstMessages = [
  '{"type":"connection_init","payload":"text"}',
  '{"type":"connection_init","payload":{"auth":1}}',
  "{",
  '{"type":"ping"}',
  '{"type":"subscribe","id":"1","payload":{"query":"{ __typename }"}}',
]

/** Close codes that tell a client what it did wrong, or that it may come back. */
const expectedCodes = new Set([1000, 1002, 1003, 1005, 1007, 1009, 1013, 4400, 4401, 4403, 4406, 4408, 4409, 4429])

/** Sessions of graphql-transport-ws that run operations of any root field, with messages between them that are malformed or out of place. */
export function socketSessions(fields: RootField[]): Arbitrary<Generated> {
  const operation = fc.oneof(...fields.map(({ kind, operations }) => ({ arbitrary: operations, weight: kind === "subscription" ? 30 : 1 })))
  const messages = fc.array(
    fc.oneof<Arbitrary<Message>[]>(
      { arbitrary: operation, weight: 12 } as never,
      { arbitrary: fc.constantFrom(...noise), weight: 1 } as never,
    ),
    { minLength: 1, maxLength: 12 },
  )
  const path = fc.constantFrom("/graphql", "/ws")
  const protocol = fc.oneof(
    { arbitrary: fc.constant("graphql-transport-ws"), weight: 30 },
    { arbitrary: fc.constantFrom("graphql-ws", "x"), weight: 1 },
  )
  const first = fc.oneof({ arbitrary: fc.constant(null), weight: 15 }, { arbitrary: fc.constantFrom(...firstMessages), weight: 1 })
  return fc
    .tuple(messages, path, protocol, anyCredential, first, fc.boolean())
    .map(([messages, path, protocol, credential, first, isReset]) => ({
      requests: messages.length + 1,
      async send(client) {
        const session = new Session(client, path, protocol)
        const value = client.company.credentialOf(credential)
        const parameters = value?.startsWith("amp_") ? { accessToken: value } : value === null ? {} : { authorization: `Bearer ${value}` }
        if (await session.open(first ?? JSON.stringify({ type: "connection_init", payload: parameters }))) session.send(messages)
        await session.end(isReset)
      },
    }))
}

/** How long a session waits for its answers, and for the first events of its subscriptions. */
const answerMs = 5_000
const eventMs = 50

class Session {
  readonly #socket: WebSocket
  /** Operations without an answer, by their ID. */
  readonly #open = new Map<string, Operation>()
  readonly #closed: Promise<void>
  #code = 0

  constructor(
    private readonly client: Client,
    path: string,
    protocol: string,
  ) {
    const from = client.company.headersOf("none")
    this.#socket = new WebSocket(client.url.replace("http", "ws") + path, protocol, { headers: from })
    this.#socket.on("error", () => {})
    this.#closed = happens(this.#socket, "close").then((code) => {
      this.#code = code as number
    })
    this.#socket.on("message", (data) => this.receive(String(data)))
  }

  /** Sends the first message; whether the session was opened. */
  async open(message: string): Promise<boolean> {
    await Promise.race([happens(this.#socket, "open"), this.#closed])
    if (this.#socket.readyState !== WebSocket.OPEN) return false
    const acknowledged = new Promise<boolean>((resolve) => {
      this.#socket.on("message", (data) => resolve(String(data).includes("connection_ack")))
    })
    this.#socket.send(message)
    const isOpen = await Promise.race([acknowledged, this.#closed.then(() => false), sleep(answerMs, false)])
    this.client.judge.count("Socket sessions", isOpen ? "ok" : String(this.#code || "unanswered"))
    return isOpen
  }

  send(messages: Message[]) {
    for (const [index, message] of messages.entries()) {
      if (this.#socket.readyState !== WebSocket.OPEN) return
      if (typeof message === "string" || Buffer.isBuffer(message)) {
        this.client.judge.count("Socket messages", "sent")
        this.#socket.send(message)
        continue
      }
      const id = `operation-${index}`
      this.#open.set(id, message)
      this.#socket.send(JSON.stringify({ id, type: "subscribe", payload: bodyOf(this.client, message) }))
    }
  }

  /** Waits for the answers, and leaves. */
  async end(isReset: boolean) {
    const { judge } = this.client
    const isAnswered = () => [...this.#open.values()].every(({ kind }) => kind === "subscription")
    const deadline = performance.now() + answerMs
    while (this.#socket.readyState === WebSocket.OPEN && !isAnswered() && performance.now() < deadline) await sleep(5)
    if (this.#socket.readyState === WebSocket.OPEN) {
      await sleep(this.#open.size > 0 ? eventMs : 0)
      if (!isAnswered())
        judge.fault("Socket sessions", `no answer to ${[...this.#open.values()].map(({ query }) => query.slice(0, 200)).join(" | ")}`)
    }
    const isOpen = this.#socket.readyState === WebSocket.OPEN
    // A subscription that runs without an error is an answer.
    for (const { key } of this.#open.values()) judge.count(key, isOpen ? "ok" : "closed")
    if (isReset) this.#socket.terminate()
    else this.#socket.close()
    await Promise.race([this.#closed, sleep(answerMs)])
    if (!isOpen && this.#code !== 1006 && !expectedCodes.has(this.#code)) judge.fault("Socket sessions", `closed with ${this.#code}`)
    this.#socket.terminate()
  }

  private receive(text: string) {
    const { judge } = this.client
    judge.text("Socket sessions", text)
    const { type, id, payload } = JSON.parse(text) as { type: string; id?: string; payload?: unknown }
    const operation = this.#open.get(id ?? "")
    if (type !== "next" && type !== "error") return
    const answer = (type === "error" ? { errors: payload } : payload) as { data?: Record<string, { id?: string }>; errors?: unknown[] }
    if (answer.errors) judge.graphqlErrors(operation?.key ?? "Socket messages", answer.errors, operation?.query ?? "a message")
    if (!operation) return
    // An event is one of many; its cursor is used by later subscriptions.
    if (operation.kind === "subscription" && !answer.errors) {
      const cursor = answer.data?.["events"]?.id
      if (cursor) this.client.company.pools.add("cursor", cursor)
      return
    }
    this.#open.delete(id!)
    judge.count(operation.key, outcomeOf(answer))
    harvestOperation(this.client, operation, text, answer.data ?? null)
  }
}
