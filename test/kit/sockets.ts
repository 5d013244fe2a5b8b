import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { eventCursor } from "../../src/events/logged-event.js"
import { retention } from "../../src/jobs/retention.js"
import { happens, until } from "./wait.js"
import type { World } from "./world.js"

/** The options of a subscription. Without `after` it begins after everything that was committed before; `after: null` sends no cursor. */
export interface SubscribeOptions {
  after?: string | null
  companyId?: string
  chatId?: string
  types?: string[]
  /** Company of the connection, as `auth: { companyId }`. */
  auth?: string
  path?: "/graphql" | "/ws"
  /** Fields of the event that are selected. */
  select?: string
}

/** An event as a subscriber receives it. */
export interface HeardEvent {
  id: string
  type: string
  createdAt: string
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own.
  payload: any
  /** As it is selected. */
  chat?: Record<string, unknown> | null
}

const queryOf = (select: string) => `subscription ($companyId: UUID, $chatId: UUID, $types: [EventType!], $after: String) {
  events(companyId: $companyId, chatId: $chatId, types: $types, after: $after) { ${select} } }`

/** Connection parameters that carry a credential. */
export const parametersOf = (credential: string, auth?: string) => ({
  ...(credential.startsWith("amp_") ? { accessToken: credential } : { authorization: `Bearer ${credential}` }),
  ...(auth && { auth: { companyId: auth } }),
})

/**
 * Subscribes over graphql-transport-ws with the standard client, without retries.
 * @example const heard = await subscribe(w, acme.token, { chatId }); await acme.message({ chatId }); await heard.next()
 */
export async function subscribe(world: World, credential: string, options: SubscribeOptions = {}) {
  const { auth, path = "/graphql", after = await endOfLog(world), select = "id type createdAt payload", ...variables } = options
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
  const iterator = client.iterate<{ events: HeardEvent }>({ query: queryOf(select), variables: { ...variables, after } })
  const next = async (): Promise<HeardEvent> => {
    const { value, done } = await happens("the subscription has another event", iterator.next(), () => variables)
    if (done) throw new Error("The subscription has ended")
    if (value.errors) throw Object.assign(new Error(value.errors[0]!.message), { errors: value.errors })
    return value.data!.events
  }
  return {
    /** The next event; throws the error of a refused subscription. */
    next,
    /** The next events. */
    async take(count: number) {
      const events: HeardEvent[] = []
      while (events.length < count) events.push(await next())
      return events
    },
    async *[Symbol.asyncIterator]() {
      for (;;) yield await next()
    },
    /** The close code and reason of the socket. */
    closed: () => happens("the subscription's socket is closed", closed),
    /** Ends the subscription. */
    async stop() {
      await iterator.return?.()
      await client.dispose()
    },
  }
}

/** Deletes all events, as after 24 hours. */
export async function forgetEvents(world: World) {
  await endOfLog(world)
  await world.sql("update event set created_at = created_at - interval '25 hours'")
  await retention.run(world.services)
}

/** A resume cursor after everything that is committed. */
export async function endOfLog(world: World): Promise<string> {
  return until("all events have a position", async () => {
    const [unplaced] = await world.sql("select 1 from event where position is null limit 1")
    const [log] = await world.sql("select last_position from event_log where id = 1")
    return unplaced ? null : eventCursor(log.last_position)
  })
}

/** A raw socket: its received messages, and its close code. Sent messages are those of the protocol. */
export async function rawSocket(
  world: World,
  path: "/graphql" | "/ws" = "/graphql",
  protocol = "graphql-transport-ws",
  headers: Record<string, string> = {},
) {
  const socket = new WebSocket(`${world.url.replace("http", "ws")}${path}`, protocol, { headers })
  const heard: { type: string; id?: string; payload?: unknown }[] = []
  socket.on("message", (data) => heard.push(JSON.parse(String(data))))
  const closed = once(socket, "close").then(([code, reason]) => ({ code: code as number, reason: String(reason) }))
  const look = () => ({ readyState: socket.readyState, count: heard.length, heard: heard.slice(-10) })
  const next = () => once(socket, "message")
  await happens("the socket is open", once(socket, "open"))
  return {
    socket,
    heard,
    /** The close code and reason, when the socket is closed. */
    closed: () => happens("the socket is closed", closed, look),
    send: (message: unknown) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    /** Sends an operation on the open session; returns all its messages, up to `complete` or `error`. */
    // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
    async ask(query: string, variables: Record<string, unknown> = {}): Promise<any[]> {
      const id = randomUUID()
      const about = () => heard.filter((message) => message.id === id)
      socket.send(JSON.stringify({ id, type: "subscribe", payload: { query, variables } }))
      const answered = async () => {
        while (!["complete", "error"].includes(about().at(-1)?.type ?? "")) await next()
        return about()
      }
      return happens(`the operation is answered: ${query.slice(0, 200)}`, answered(), look)
    },
    /** Opens the session with a credential, or with connection parameters as they are: resolves with `acknowledged`, or with the close code. */
    async open(credential: string | object | null, auth?: string): Promise<"acknowledged" | number> {
      const told = next().then(() => "acknowledged" as const)
      const payload = typeof credential === "string" ? parametersOf(credential, auth) : (credential ?? {})
      socket.send(JSON.stringify({ type: "connection_init", payload }))
      return happens("the session is opened or refused", Promise.race([told, closed.then(({ code }) => code)]), look)
    },
  }
}
