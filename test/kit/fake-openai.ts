import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as it reached a fake model; `at` is milliseconds since the epoch. */
export interface FakeModelRequest {
  at: number
  path: string
  headers: IncomingMessage["headers"]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into vendors' bodies without their types
  body: any
}

/** A tool call for a fake to ask for; `arguments` as a string go over the wire as they are, broken or not. */
export interface FakeToolCall {
  id?: string
  name: string
  arguments?: unknown
}

/** What a fake answers: words, calls, an error status, silence, a broken connection, or something unreadable. */
export type FakeModelReply =
  | { text?: string; toolCalls?: FakeToolCall[] }
  | { status: number; message?: string; headers?: Record<string, string> }
  | "hang"
  | "reset"
  | "garbage"

/** A model vendor on a local port; set `reply` to decide each answer (await in it to delay), read `requests` to see what was asked. */
export interface FakeModel {
  /** Base address, `http://127.0.0.1:port/v1`. */
  url: string
  requests: FakeModelRequest[]
  reply: (request: FakeModelRequest) => Promise<FakeModelReply>
  close(): Promise<void>
}

/** A local server that speaks OpenAI's `POST /chat/completions`. */
export type FakeOpenAi = FakeModel

/** Starts a fake OpenAI that answers "ok" until told otherwise. */
export function startFakeOpenAi(): Promise<FakeOpenAi> {
  return startFakeModel("/v1/chat/completions", ({ text, toolCalls }, { body }) => ({
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 1_750_000_000,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text ?? null,
          ...(toolCalls && {
            tool_calls: toolCalls.map(({ id, name, arguments: given = {} }, index) => ({
              id: id ?? `call_${Date.now().toString(36)}_${index}`,
              type: "function",
              function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
            })),
          }),
        },
        finish_reason: toolCalls ? "tool_calls" : "stop",
      },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }))
}

/** Starts a fake vendor at one path, with `render` as its wire format: the machinery of every fake model. */
export async function startFakeModel(
  path: string,
  render: (reply: { text?: string; toolCalls?: FakeToolCall[] }, request: FakeModelRequest) => unknown,
): Promise<FakeModel> {
  const fake: Omit<FakeModel, "url"> = {
    requests: [],
    reply: async () => ({ text: "ok" }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer((request, response) => {
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
    if (!("status" in reply)) return json(response, 200, render(reply, asked))
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
