import { io, type Socket } from "socket.io-client"
import type { Heard } from "./listener.js"

const reconnectMs = 30

/** A subscriber over Socket.IO, with the stock client, that reconnects after every cut and resumes after its last event. */
export class SocketIoListener {
  readonly heard: Heard[] = []
  /** Refused connections, of which there should be none. */
  readonly refusals: string[] = []
  cuts = 0
  #socket: Socket | null = null
  #closed = false

  constructor(
    /** The address of the next connection. */
    private readonly url: () => string,
    private readonly token: string,
    private after: string,
    private readonly onEvent: () => void = () => {},
  ) {
    this.connect()
  }

  /** Cuts the connection; data in transit is lost. */
  cut() {
    this.cuts += 1
    this.leave()
  }

  close() {
    this.#closed = true
    this.leave()
  }

  private connect() {
    if (this.#closed) return
    // Every second connection begins with polling.
    const transports = this.cuts % 2 ? ["polling", "websocket"] : ["websocket"]
    const auth = { token: this.token, lastEventId: this.after }
    const socket = io(`${this.url()}/ws`, { transports, auth, reconnection: false, forceNew: true })
    this.#socket = socket
    socket.onAny((type: string, { id, payload }: { id: string; payload: Heard["message"] }) => {
      if (this.#socket !== socket) return
      this.after = id
      this.heard.push({ id, type, at: performance.now(), message: payload })
      this.onEvent()
    })
    socket.on("connect_error", (error: Error & { data?: { statusCode: number } }) => {
      // Without data nobody answered: the instance was killed.
      if (error.data) this.refusals.push(`refused with ${JSON.stringify(error.data)}`)
      if (this.#socket === socket) this.leave()
    })
    socket.on("disconnect", () => this.#socket === socket && this.leave())
  }

  private leave() {
    const socket = this.#socket
    this.#socket = null
    socket?.disconnect()
    if (!this.#closed) setTimeout(() => this.connect(), reconnectMs)
  }
}
