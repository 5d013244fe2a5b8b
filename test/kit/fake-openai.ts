import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that a fake model received; `at` is milliseconds since the epoch. */
export interface FakeModelRequest {
  at: number
  path: string
  headers: IncomingMessage["headers"]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into vendors' bodies without their types
  body: any
}

/** A tool call in a response; `arguments` as a string are sent unchanged, valid or not. */
export interface FakeToolCall {
  id?: string
  name: string
  arguments?: unknown
}

/** Text and calls; streamed in the given pieces, else word by word. The pieces "reset" and "end" cut the stream. */
export interface FakeWords {
  text?: string
  pieces?: AsyncIterable<string>
  toolCalls?: FakeToolCall[]
}

/** A response of a fake: text, calls, an error status, no response, a broken connection, or an invalid body. */
export type FakeModelReply =
  | FakeWords
  | { status: number; message?: string; headers?: Record<string, string> }
  | "hang"
  | "reset"
  | "garbage"

/** A model vendor on a local port; set `reply` to decide each answer (await in it to delay), read `requests` for the requests. */
export interface FakeModel {
  /** Base address, `http://127.0.0.1:port/v1`. */
  url: string
  requests: FakeModelRequest[]
  reply: (request: FakeModelRequest) => Promise<FakeModelReply>
  /** The number of responses that have not ended. */
  open: number
  close(): Promise<void>
}

/** A local server that speaks OpenAI's `POST /chat/completions`. */
export type FakeOpenAi = FakeModel

/** A vendor's format of a response: whole, and as a stream of server-sent events. */
export interface Wire {
  whole(words: FakeWords, request: FakeModelRequest): unknown
  stream(words: FakeWords, request: FakeModelRequest): AsyncIterable<object | string>
}

/** Starts a fake OpenAI that answers "ok" by default. */
export function startFakeOpenAi(): Promise<FakeOpenAi> {
  return startFakeModel("/v1/chat/completions", { whole, stream })
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const callsOf = (toolCalls: FakeToolCall[] | undefined) =>
  toolCalls?.map(({ id, name, arguments: given = {} }, index) => ({
    id: id ?? `call_${Date.now().toString(36)}_${index}`,
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
  }))

function whole({ text, toolCalls }: FakeWords, { body }: FakeModelRequest) {
  const message = { role: "assistant", content: text ?? null, ...(toolCalls && { tool_calls: callsOf(toolCalls) }) }
  const choices = [{ index: 0, message, finish_reason: toolCalls ? "tool_calls" : "stop" }]
  return { id: "chatcmpl-fake", object: "chat.completion", created: 1_750_000_000, model: body.model, choices, usage }
}

async function* stream(words: FakeWords, { body }: FakeModelRequest) {
  const chunk = (choices: object[], more = {}) => ({
    id: "chatcmpl-fake",
    object: "chat.completion.chunk",
    model: body.model,
    choices,
    ...more,
  })
  const delta = (given: object, finish: string | null = null) => chunk([{ index: 0, delta: given, finish_reason: finish }])
  yield delta({ role: "assistant" })
  for await (const content of piecesOf(words)) yield content === "reset" || content === "end" ? content : delta({ content })
  for (const [index, call] of (callsOf(words.toolCalls) ?? []).entries()) yield delta({ tool_calls: [{ index, ...call }] })
  yield delta({}, words.toolCalls ? "tool_calls" : "stop")
  if (body.stream_options?.include_usage) yield chunk([], { usage })
  yield "[DONE]"
}

/** The pieces in which a text is streamed: word by word by default. */
export async function* piecesOf({ text, pieces }: FakeWords): AsyncGenerator<string> {
  if (pieces) yield* pieces
  else yield* text?.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []
}

/** Starts a fake vendor at one path, with its wire format; all fake models use it. */
export async function startFakeModel(path: string, wire: Wire): Promise<FakeModel> {
  const fake: Omit<FakeModel, "url"> = {
    requests: [],
    reply: async () => ({ text: "ok" }),
    open: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer((request, response) => {
    fake.open += 1
    response.once("close", () => (fake.open -= 1))
    serve(request, response).catch((error) => json(response, 500, { error: { message: String(error) } }))
  })

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const asked = { at: Date.now(), path: request.url ?? "", headers: request.headers, body: await read(request) }
    fake.requests.push(asked)
    if (request.method !== "POST" || asked.path !== path) return json(response, 404, { error: { message: `No such path: ${asked.path}` } })
    const reply = await fake.reply(asked)
    if (reply === "hang") return
    if (reply === "reset") return void request.socket.resetAndDestroy()
    if (reply === "garbage") return void response.writeHead(200, { "content-type": "application/json" }).end('{"choices": [{"mess')
    if (!("status" in reply)) {
      if (!asked.body.stream) return json(response, 200, wire.whole(reply, asked))
      response.writeHead(200, { "content-type": "text/event-stream" })
      for await (const event of wire.stream(reply, asked)) {
        if (event === "reset") return void request.socket.resetAndDestroy()
        if (event === "end") break
        response.write(sse(event))
      }
      return void response.end()
    }
    json(
      response,
      reply.status,
      { type: "error", error: { type: "fake", message: reply.message ?? `fault ${reply.status}` } },
      reply.headers,
    )
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
}

const sse = (event: object | string) => {
  if (typeof event === "string") return `data: ${event}\n\n`
  return `${"type" in event ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`
}

async function read(request: IncomingMessage) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}
