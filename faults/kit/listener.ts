import { WebSocket } from "ws"

/** An event as a subscriber received it, with GraphQL's enum names. */
export interface Heard {
  id: string
  type: string
  at: number
  message: { id: string; chatId: string; sequence: number; role: string; text: string } | null
}

/** How a subscriber connects. */
export interface ClientOptions {
  /** Address of this machine that it connects from; with Socket.IO that of its WebSockets. */
  localAddress?: string
  /** Pause before it connects again. */
  reconnectMs?: number
}

const query = "subscription ($after: String) { events(after: $after) { id type message { id chatId sequence role text } } }"
/** Pause before a connection that was cut is opened again. */
const reconnectMs = 30

/** A subscriber over graphql-transport-ws that reconnects after every cut and resumes after its last event. */
export class Listener {
  readonly heard: Heard[] = []
  /** Errors and close codes, of which there should be none. */
  readonly refusals: string[] = []
  /** Connections that were not opened, by their error. */
  readonly unopened: string[] = []
  cuts = 0
  /** Whether it takes a 503 like a cut, and comes back; otherwise that is a refusal. */
  isPatient = false
  #socket: WebSocket | null = null
  #closed = false

  constructor(
    /** The address of the next connection. */
    private readonly url: () => string,
    private readonly credentials: Record<string, string>,
    private after: string | null,
    private readonly onEvent: () => void = () => {},
    private readonly options: ClientOptions = {},
  ) {
    this.connect()
  }

  /** Cuts the connection; data in transit is lost. */
  cut() {
    this.cuts += 1
    this.#socket?.terminate()
    this.leave()
  }

  close() {
    this.#closed = true
    this.#socket?.terminate()
    this.leave()
  }

  private connect() {
    if (this.#closed) return
    const { localAddress } = this.options
    const socket = new WebSocket(`${this.url().replace("http", "ws")}/graphql`, "graphql-transport-ws", {
      ...(localAddress && { localAddress }),
    })
    this.#socket = socket
    socket.on("error", ({ message }) => socket.readyState === WebSocket.CONNECTING && this.unopened.push(message))
    socket.on("open", () => socket.send(JSON.stringify({ type: "connection_init", payload: this.credentials })))
    socket.on("message", (data) => this.#socket === socket && this.take(socket, JSON.parse(String(data))))
    socket.on("close", (code, reason) => {
      if (code >= 4000) this.refusals.push(`closed with ${code}: ${reason}`)
      if (this.#socket === socket) this.leave()
    })
  }

  private leave() {
    this.#socket = null
    if (!this.#closed) setTimeout(() => this.connect(), this.options.reconnectMs ?? reconnectMs)
  }

  // biome-ignore lint/suspicious/noExplicitAny: frames of the protocol.
  private take(socket: WebSocket, frame: any) {
    if (frame.type === "ping") socket.send(JSON.stringify({ type: "pong" }))
    if (frame.type === "connection_ack")
      socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query, variables: { after: this.after } } }))
    const errors = frame.type === "error" ? frame.payload : frame.payload?.errors
    if (this.isPatient && errors?.[0]?.extensions?.statusCode === 503) return socket.terminate()
    if (errors) this.refusals.push(JSON.stringify(frame))
    const event = frame.type === "next" && frame.payload?.data?.events
    if (!event) return
    this.after = event.id
    this.heard.push({ ...event, at: performance.now() })
    this.onEvent()
  }
}
