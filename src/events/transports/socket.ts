import type { IncomingMessage } from "node:http"
import type { Server } from "graphql-ws"
import { WebSocket } from "ws"
import type { SampledLog } from "../../observability/sampled-log.js"
import { eventLimits } from "../limits.js"

/** Close code after which the standard client reconnects, unlike after 1011. */
export const tryAgainLater = 1013

/** The facts of a socket that the protocol's callbacks receive. */
export interface SocketFacts {
  socket: WebSocket
  request: IncomingMessage
}

/**
 * Runs the protocol on a socket. Reading stops while the client does not read its answers, and a client that leaves more unread than the
 * limit is closed with 1013, so that a socket never holds memory without bound.
 */
export function serveSocket<E extends SocketFacts>(server: Server<E>, facts: SocketFacts, log: SampledLog) {
  const { socket } = facts
  const flow = new Flow(socket, log)
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) => flow.send(text),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) =>
        socket.on("message", (data) => {
          handle(String(data)).catch((error: Error) => {
            // A message that only a server sends.
            if (error.message.startsWith("Unexpected message of type")) return socket.close(4400, "Invalid message received")
            log.line("error", "a message of a socket could not be handled", error)
            socket.close(1011, "Something went wrong on our side")
          })
        }),
    },
    facts as E,
  )
  socket.on("error", (error) => log.line("debug", "a socket sent a malformed frame, or was reset", error))
  socket.once("close", (code, reason) => {
    flow.end()
    closed(code, String(reason)).catch((error) => log.line("error", "a socket could not be closed", error))
  })
}

/** What a socket sends: how much of it the client has not read, and whether the client is alive. */
class Flow {
  #alive = true
  #stuck: NodeJS.Timeout | undefined
  readonly #heartbeat: NodeJS.Timeout

  constructor(
    private readonly socket: WebSocket,
    private readonly log: SampledLog,
  ) {
    this.#heartbeat = setInterval(() => this.beat(), eventLimits.socketPingMs)
    socket.on("pong", () => {
      this.#alive = true
    })
    // The library answers a ping, which a client may send without reading the answers.
    socket.on("ping", () => this.regulate())
  }

  /** Resolves when the text has left this process, or never will. */
  send(text: string): Promise<void> {
    const { socket } = this
    if (socket.bufferedAmount > eventLimits.socketBurstBytes) this.giveUp()
    if (socket.readyState !== WebSocket.OPEN) {
      this.log.line("info", "answers were not sent, because their sockets were closed")
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      socket.send(text, (error) => {
        if (error) this.log.line("info", "answers were not sent, because their sockets were closed")
        else this.#alive = true
        this.regulate()
        resolve()
      })
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
    else if (socket.isPaused) socket.resume()
    if (unsent <= eventLimits.socketUnsentBytes) this.#stuck = void clearTimeout(this.#stuck)
    else this.#stuck ??= setTimeout(() => this.giveUp(), eventLimits.socketUnsentMs)
  }

  /** The close frame waits behind the unread answers; the client's own one must be read. */
  private giveUp() {
    this.socket.close(tryAgainLater, "Reads too slowly; resume with after")
    this.socket.resume()
  }

  private beat() {
    if (!this.#alive) return this.socket.terminate()
    this.#alive = false
    this.socket.ping()
  }
}
