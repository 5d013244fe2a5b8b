import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { eventCursor } from "../../src/events/logged-event.js"
import type { World } from "./world.js"

/** What a test subscribes to. Without `after` it begins behind everything that was committed before; `after: null` sends no cursor. */
export interface Wish {
  after?: string | null
  companyId?: string
  chatId?: string
  types?: string[]
  /** Company of the connection, as `auth: { companyId }`. */
  auth?: string
  path?: "/graphql" | "/ws"
}

/** An event as a subscriber gets it. */
export interface HeardEvent {
  id: string
  type: string
  createdAt: string
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own.
  payload: any
}

const query = `subscription ($companyId: UUID, $chatId: UUID, $types: [EventType!], $after: String) {
  events(companyId: $companyId, chatId: $chatId, types: $types, after: $after) { id type createdAt payload } }`

/** Connection parameters that carry a credential. */
export const parametersOf = (credential: string, auth?: string) => ({
  ...(credential.startsWith("amp_") ? { accessToken: credential } : { authorization: `Bearer ${credential}` }),
  ...(auth && { auth: { companyId: auth } }),
})

/**
 * Subscribes over graphql-transport-ws with the stock client, without retries.
 * @example const heard = await subscribe(w, acme.token, { chatId }); await acme.message({ chatId }); await heard.next()
 */
export async function subscribe(world: World, credential: string, wish: Wish = {}) {
  const { auth, path = "/graphql", after = await endOfLog(world), ...variables } = wish
  let close!: (event: { code: number; reason: string }) => void
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    close = resolve
  })
  const client = createClient({
    url: `${world.url.replace("http", "ws")}${path}`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(credential, auth),
    retryAttempts: 0,
    on: { closed: (event) => close(event as { code: number; reason: string }) },
  })
  const iterator = client.iterate<{ events: HeardEvent }>({ query, variables: { ...variables, after } })
  const next = async (): Promise<HeardEvent> => {
    const { value, done } = await iterator.next()
    if (done) throw new Error("The subscription has ended")
    if (value.errors) throw Object.assign(new Error(value.errors[0]!.message), { errors: value.errors })
    return value.data!.events
  }
  return {
    /** The next event; throws what the server refused the subscription with. */
    next,
    /** So many next events. */
    async take(count: number) {
      const events: HeardEvent[] = []
      while (events.length < count) events.push(await next())
      return events
    },
    async *[Symbol.asyncIterator]() {
      for (;;) yield await next()
    },
    /** How the socket was closed. */
    closed,
    /** Leaves. */
    async stop() {
      await iterator.return?.()
      await client.dispose()
    },
  }
}

/** A resume cursor behind everything that was committed so far. */
export async function endOfLog(world: World): Promise<string> {
  for (;;) {
    const [unplaced] = await world.sql("select 1 from event where position is null limit 1")
    const [log] = await world.sql("select last_position from event_log where id = 1")
    if (!unplaced) return eventCursor(log.last_position)
  }
}

/** A bare socket: what it is told, and how it is closed. Messages sent are the protocol's own. */
export async function rawSocket(world: World, path: "/graphql" | "/ws" = "/graphql", protocol = "graphql-transport-ws") {
  const socket = new WebSocket(`${world.url.replace("http", "ws")}${path}`, protocol)
  const heard: { type: string; id?: string; payload?: unknown }[] = []
  socket.on("message", (data) => heard.push(JSON.parse(String(data))))
  const closed = once(socket, "close").then(([code, reason]) => ({ code: code as number, reason: String(reason) }))
  await once(socket, "open")
  return {
    socket,
    heard,
    closed,
    send: (message: unknown) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    /** Asks on the open session; answers everything it was told about that, up to `complete` or `error`. */
    // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
    async ask(query: string, variables: Record<string, unknown> = {}): Promise<any[]> {
      const id = randomUUID()
      const about = () => heard.filter((message) => message.id === id)
      socket.send(JSON.stringify({ id, type: "subscribe", payload: { query, variables } }))
      while (!["complete", "error"].includes(about().at(-1)?.type ?? "")) await once(socket, "message")
      return about()
    },
    /** Opens the session: resolves with `acknowledged`, or with the code it was closed with. */
    async open(credential: string | null, auth?: string): Promise<"acknowledged" | number> {
      const told = once(socket, "message").then(() => "acknowledged" as const)
      socket.send(JSON.stringify({ type: "connection_init", payload: credential === null ? {} : parametersOf(credential, auth) }))
      return Promise.race([told, closed.then(({ code }) => code)])
    },
  }
}
