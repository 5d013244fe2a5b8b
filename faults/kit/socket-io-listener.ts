import { io, type Socket } from "socket.io-client"
import type { ClientOptions, Heard } from "./listener.js"

const reconnectMs = 30

/** A subscriber over Socket.IO, with the stock client, that reconnects after every cut and resumes after its last event. */
export class SocketIoListener {
  readonly heard: Heard[] = []
  /** Refused connections, of which there should be none. */
  readonly refusals: string[] = []
  /** Connections that were not opened, by their error. */
  readonly unopened: string[] = []
  cuts = 0
  #socket: Socket | null = null
  #closed = false

  constructor(
    /** The address of the next connection. */
    private readonly url: () => string,
    private readonly token: string,
    private after: string,
    private readonly onEvent: () => void = () => {},
    private readonly options: ClientOptions = {},
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
    const { localAddress } = this.options
    const options = { transports, auth, reconnection: false, forceNew: true, ...(localAddress && { localAddress }) }
    const socket = io(`${this.url()}/ws`, options)
    this.#socket = socket
    socket.onAny((type: string, { id, payload }: { id: string; payload: Heard["message"] }) => {
      if (this.#socket !== socket) return
      this.after = id
      this.heard.push({ id, type, at: performance.now(), message: payload })
      this.onEvent()
    })
    socket.on("connect_error", (error: Error & { data?: { statusCode: number }; description?: { message: string } }) => {
      // Without data nobody answered: the instance was killed.
      if (error.data) this.refusals.push(`refused with ${JSON.stringify(error.data)}`)
      else this.unopened.push(error.description?.message ?? error.message)
      if (this.#socket === socket) this.leave()
    })
    socket.on("disconnect", () => this.#socket === socket && this.leave())
  }

  private leave() {
    const socket = this.#socket
    this.#socket = null
    socket?.disconnect()
    if (!this.#closed) setTimeout(() => this.connect(), this.options.reconnectMs ?? reconnectMs)
  }
}
