import type { Server } from "graphql-ws"
import { WebSocket } from "ws"
import type { Metrics } from "../../observability/metrics.js"
import type { SampledLog } from "../../observability/sampled-log.js"
import { eventLimits } from "../limits.js"

/** Close code after which the standard client reconnects, unlike after 1011. */
export const tryAgainLater = 1013

/** The facts of a socket that the protocol's callbacks receive. */
export interface SocketFacts {
  socket: WebSocket
  /** Address of the client. */
  address: string
  /** Sends a message of the protocol; a promise, when the socket holds unread bytes, resolves when it has left this process or never will. */
  send(text: string | Buffer): Promise<void> | void
}

/** Closes a socket whose client reads too slowly, and counts it once; the client reconnects and resumes. */
export function cutSocket(socket: WebSocket, { socketsCut }: Metrics) {
  if (socket.readyState === WebSocket.OPEN) socketsCut.inc({ transport: "graphql-ws" })
  socket.close(tryAgainLater, "Reads too slowly; resume with after")
}

/**
 * Runs the protocol on a socket. Reading stops while the client does not read its answers, and a client that leaves more unread than the
 * limit is closed with 1013, so that a socket never holds memory without bound.
 */
export function serveSocket<E extends SocketFacts>(server: Server<E>, given: Omit<SocketFacts, "send">, log: SampledLog, metrics: Metrics) {
  const { socket } = given
  const flow = new Flow(socket, log, metrics)
  const facts: SocketFacts = { ...given, send: (text) => flow.send(text) }
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: facts.send,
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) =>
        socket.on("message", (data) => {
          flow.takeTurns()
          handle(String(data)).catch((error: Error) => {
            // A message that only a server sends.
            if (error.message.startsWith("Unexpected message of type")) return socket.close(4400, "Invalid message received")
            log.line("error", "a message of a socket could not be handled", { err: error })
            socket.close(1011, "Something went wrong on our side")
          })
        }),
    },
    facts as E,
  )
  socket.on("error", (error) => log.line("debug", "a socket sent a malformed frame, or was reset", { err: error }))
  socket.once("close", (code, reason) => {
    flow.end()
    closed(code, String(reason)).catch((error) => log.line("error", "a socket could not be closed", { err: error }))
  })
}

/** Bytes are sent as text too: those of results that are encoded once for many sockets. */
const asText = { binary: false }

/** What a socket sends: how much of it the client has not read, and whether the client is alive. */
class Flow {
  #alive = true
  #stuck: NodeJS.Timeout | undefined
  /** Messages that were handled since other connections had their turn. */
  #handled = 0
  readonly #heartbeat: NodeJS.Timeout

  constructor(
    private readonly socket: WebSocket,
    private readonly log: SampledLog,
    private readonly metrics: Metrics,
  ) {
    this.#heartbeat = setInterval(() => this.beat(), eventLimits.socketPingMs)
    socket.on("pong", () => {
      this.#alive = true
    })
    // The library answers a ping, which a client may send without reading the answers.
    socket.on("ping", () => this.regulate())
  }

  /** Sends a text; a promise resolves when it has left this process, or never will. */
  send(text: string | Buffer): Promise<void> | void {
    const { socket } = this
    // The usual case is cheap, since an event may have thousands of readers.
    const bytesAtMost = socket.bufferedAmount + 3 * text.length
    if (bytesAtMost <= eventLimits.socketReadAheadBytes && !socket.isPaused && socket.readyState === WebSocket.OPEN)
      return socket.send(text, asText)
    if (socket.bufferedAmount > eventLimits.socketBurstBytes) this.giveUp()
    if (socket.readyState !== WebSocket.OPEN) {
      this.log.line("info", "answers were not sent, because their sockets were closed")
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      socket.send(text, asText, (error) => {
        if (error) this.log.line("info", "answers were not sent, because their sockets were closed")
        else this.#alive = true
        this.regulate()
        resolve()
      })
      this.regulate()
    })
  }

  /** Counts a message; after some, other connections have their turn. Node would read up to 2 MB at once, thousands of small messages. */
  takeTurns() {
    this.#handled += 1
    if (this.#handled !== eventLimits.socketMessagesAtOnce) return
    this.socket.pause()
    setImmediate(() => {
      this.#handled = 0
      this.regulate()
    })
  }

  /** Stops the timers of a closed socket. */
  end() {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#stuck)
  }

  /** Reads only while the client reads, and closes a socket that has held too much for too long. */
  private regulate() {
    const { socket } = this
    const unsent = socket.bufferedAmount
    if (unsent > eventLimits.socketReadAheadBytes && socket.readyState === WebSocket.OPEN) socket.pause()
    else if (socket.isPaused && this.#handled < eventLimits.socketMessagesAtOnce) socket.resume()
    if (unsent <= eventLimits.socketUnsentBytes) this.#stuck = void clearTimeout(this.#stuck)
    else this.#stuck ??= setTimeout(() => this.giveUp(), eventLimits.socketUnsentMs)
  }

  /** The close frame waits behind the unread answers; the client's own one must be read. */
  private giveUp() {
    cutSocket(this.socket, this.metrics)
    this.socket.resume()
  }

  private beat() {
    if (!this.#alive) return this.socket.terminate()
    this.#alive = false
    this.socket.ping()
  }
}
