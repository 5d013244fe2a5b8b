import { type EventEmitter, once } from "node:events"
import { WebSocket } from "ws"
import type { Company } from "./company.js"

/** The status and the code of a response: over REST and GraphQL alike the ones of the error, if there is one. */
export interface Told {
  status: number
  code: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
  body: any
}

/** Posts JSON with these headers. */
export async function tell(url: string, headers: Record<string, string>, body: unknown): Promise<Told> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
  return toldBy(answer)
}

/** What a response says. */
export async function toldBy(answer: Response): Promise<Told> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
  const body = (await answer.json()) as any
  const { statusCode = answer.status, code = body.code ?? "ok" } = body.errors?.[0]?.extensions ?? {}
  return { status: statusCode, code, body }
}

/** The headers of the company's access token. */
export const withToken = ({ token }: Pick<Company, "token">) => ({ "x-access-token": token })

/** Complaints about answers with another code than these. */
export const otherThan = (codes: string[], answers: Told[]): string[] =>
  answers
    .filter(({ code }) => !codes.includes(code))
    .map(({ status, code, body }) => `${status} ${code}: ${JSON.stringify(body).slice(0, 300)}`)

/** An open session of graphql-transport-ws, with the messages that it has received. */
export async function openSession(url: string, credential: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws")
  // biome-ignore lint/suspicious/noExplicitAny: messages of the protocol.
  const received: any[] = []
  socket.on("error", () => {})
  const acknowledged = once(socket, "message")
  await once(socket, "open")
  const payload = credential.startsWith("amp_") ? { accessToken: credential } : { authorization: `Bearer ${credential}` }
  socket.send(JSON.stringify({ type: "connection_init", payload }))
  await acknowledged
  socket.on("message", (data) => received.push(JSON.parse(String(data))))
  const subscribe = (id: string, query: string, variables: object = {}) =>
    socket.send(JSON.stringify({ id, type: "subscribe", payload: { query, variables } }))
  return { socket, received, subscribe }
}

/** Waits for an event; an error, after which it never happens, is no failure here. */
export const happens = (emitter: EventEmitter, event: string): Promise<unknown> => new Promise((resolve) => emitter.once(event, resolve))
