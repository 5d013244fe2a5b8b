import { once } from "node:events"
import type { Socket } from "socket.io-client"
import { v7 } from "uuid"
import { sign } from "../../src/context/json-web-token.js"
import { type Refusal, type SocketIoOptions, socketIo } from "./socket-io.js"
import type { HeardEvent } from "./sockets.js"
import { happens } from "./wait.js"
import type { World } from "./world.js"

/** The texts of the messages of events. */
export const texts = (events: HeardEvent[]) => events.map(({ payload }) => payload.text)

/** The numbers from 1 to this one. */
export const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** How a client is told that it is refused. */
export const refused = (statusCode: number, code: string) => ({ message: expect.any(String), data: { statusCode, code }, active: false })

/** The argument of the next event of a client. */
export const emitted = (socket: Socket, name: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own.
  happens(`the client has the event "${name}"`, new Promise<any>((resolve) => socket.once(name, resolve)))

/** What stories of Socket.IO do on a server. */
export function socketIoStories(w: World) {
  const { acme, rest, gql } = w

  /** A client that is connected. */
  async function connected(credential: string | null, options: SocketIoOptions = {}) {
    const client = await socketIo(w, credential, options)
    expect(await client.outcome()).toBe("connected")
    return client
  }

  /** How a client is refused. */
  async function refusal(credential: string | null, options: SocketIoOptions = {}): Promise<Refusal | "connected"> {
    const client = await socketIo(w, credential, options)
    const outcome = await client.outcome()
    client.stop()
    return outcome
  }

  /** A new access token of Acme, with the function that revokes it. */
  async function makeToken() {
    const { body } = await rest.as(acme.owner.jwt).post(`/api/companies/${acme.id}/access-tokens`, { name: "Short-lived" }).expect(201)
    const revoke = () => rest.as(acme.owner.jwt).delete(`/api/companies/${acme.id}/access-tokens/${body.id}`).expect(200)
    return { value: body.token as string, revoke }
  }

  /** Signs a JWT of a user. */
  const jwtOf = ({ id, sessionId }: { id: string; sessionId: string }, from = new Date(), seconds = 60) =>
    sign({ typ: "access", sub: id, sid: sessionId, jti: v7() }, w.services.secrets.jwtSecret, seconds, from)

  /** Writes this many messages with long texts, 20 with one request. */
  async function writeLong(chatId: string, count: number) {
    const input = `input: { chatId: "${chatId}", text: "${"x".repeat(16_000)}" }`
    const many = `mutation { ${numbers(20).map((index) => `m${index}: createMessage(${input}) { id }`)} }`
    for (let sent = 0; sent < count; sent += 20) expect((await gql(acme.token, many)).errors).toBeUndefined()
  }

  /** Writes this many short messages, 25 with one request. */
  async function writeShort(chatId: string, count: number) {
    const many = `mutation { ${numbers(25).map((index) => `m${index}: createMessage(input: { chatId: "${chatId}", text: "Hi" }) { id }`)} }`
    for (let sent = 0; sent < count; sent += 25) expect((await gql(acme.token, many)).errors).toBeUndefined()
  }

  /** A bare WebSocket of Engine.IO, after its handshake. */
  async function rawEngine() {
    const { WebSocket } = await import("ws")
    const socket = new WebSocket(`${w.url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`)
    socket.on("error", () => {})
    await happens("the handshake is answered", once(socket, "message"))
    return socket
  }

  return { connected, refusal, makeToken, jwtOf, writeLong, writeShort, rawEngine }
}
