import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

/** A request for embeddings that the fake received. */
export interface EmbeddingRequest {
  path: string
  headers: IncomingHttpHeaders
  model: string
  input: string[]
}

/** A response of the fake: vectors, an error status, no response, a broken connection, or an invalid body. */
export type EmbeddingReply = { vectors: number[][]; order?: number[] } | { status: number; message?: string } | "hang" | "reset" | "garbage"

/** An OpenAI-compatible embeddings vendor on a local port; set `reply` to decide each answer, read `requests` for the requests. */
export interface FakeEmbeddings {
  /** Base address, `http://127.0.0.1:port/v1`. */
  url: string
  requests: EmbeddingRequest[]
  reply: (request: EmbeddingRequest) => Promise<EmbeddingReply>
  close(): Promise<void>
}

/** Starts a fake whose vectors count letters: 27 numbers, not normalized; texts with the same letters have the same vector. */
export async function startFakeEmbeddings(): Promise<FakeEmbeddings> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { model, input } = JSON.parse(Buffer.concat(parts).toString())
    const asked = { path: request.url!, headers: request.headers, model, input: [input].flat() }
    fake.requests.push(asked)
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body))
    if (request.method !== "POST" || request.url !== "/v1/embeddings")
      return send(404, { error: { message: `No such path: ${request.url}` } })
    const reply = await fake.reply(asked)
    if (reply === "hang") return
    if (reply === "reset") return void request.socket.resetAndDestroy()
    if (reply === "garbage") return send(200, '{"data": [{"embed')
    if ("status" in reply) return send(reply.status, { error: { message: reply.message ?? `fault ${reply.status}` } })
    const data = reply.vectors.map((embedding, index) => ({ object: "embedding", index, embedding }))
    const usage = { prompt_tokens: 3, total_tokens: 3 }
    send(200, { object: "list", model, data: reply.order ? reply.order.map((at) => data[at]) : data, usage })
  })
  const fake: Omit<FakeEmbeddings, "url"> = {
    requests: [],
    reply: async ({ input }) => ({ vectors: input.map(letters) }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
}

/** The count of each letter of English in a text, and of all other characters together. */
export function letters(text: string): number[] {
  const counts = new Array<number>(27).fill(0)
  for (const letter of text.toLowerCase()) counts[/[a-z]/.test(letter) ? letter.charCodeAt(0) - 97 : 26]! += 1
  return counts
}
