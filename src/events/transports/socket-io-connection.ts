import { performance } from "node:perf_hooks"
import type { Socket as EngineSocket } from "engine.io"
import { WebSocket } from "ws"
import { eventLimits } from "../limits.js"

/** Why a connection is cut, as a line of the log. */
export const readsTooSlowly = "connections of Socket.IO were closed, because their clients read too slowly"

/**
 * A connection of Socket.IO, which its namespaces share: over polling or a WebSocket. A client that reads too slowly, or sends too much, is cut
 * off; it reconnects and resumes.
 */
export class SocketIoConnection {
  /** Namespaces in use, with what is released when the connection closes; null while one is being opened. */
  readonly #sessions = new Map<string, Disposable | null>()
  /** Packets that were not handed to the transport, and their size. */
  #unsent = { packets: 0, bytes: 0 }
  #received = { count: 0, since: 0 }
  #readers: (() => void)[] = []
  #ending: NodeJS.Timeout | undefined
  readonly closed: Promise<void>

  constructor(
    readonly engine: EngineSocket,
    /** Address of the client. */
    readonly address: string,
    private readonly onCut: (reason: string) => void,
  ) {
    engine.on("packetCreate", (packet: Packet) => this.measure(packet))
    engine.on("flush", () => {
      this.#unsent = { packets: 0, bytes: 0 }
      this.wakeReaders()
    })
    engine.on("packet", () => this.count())
    this.closed = new Promise((resolve) =>
      engine.once("close", () => {
        clearTimeout(this.#ending)
        this.release()
        // It waits for the client's close frame.
        const socket = this.socket()
        if (socket && socket.readyState !== WebSocket.CLOSED) setTimeout(() => socket.terminate(), eventLimits.socketUnsentMs).unref()
        resolve()
      }),
    )
  }

  /** Whether neither side has begun to close it. */
  get isOpen() {
    return this.engine.readyState === "open" && !this.#ending
  }

  /** Reserves a namespace; false when it is in use. */
  enter(namespace: string): boolean {
    if (this.#sessions.has(namespace)) return false
    this.#sessions.set(namespace, null)
    return true
  }

  /** Disposes of a session when the connection closes, unless its namespace was left before. */
  keep(namespace: string, session: Disposable) {
    this.#sessions.set(namespace, session)
  }

  /** Gives a namespace back. */
  leave(namespace: string) {
    this.#sessions.delete(namespace)
  }

  /** Whether no namespace is in use. */
  get isUnused() {
    return this.#sessions.size === 0
  }

  /** Resolves when the client has read enough to be sent more, or is gone. */
  async readable(): Promise<void> {
    const { packets, bytes } = this.#unsent
    const isBehind = packets >= eventLimits.socketIoAheadPackets || bytes >= eventLimits.socketIoAheadBytes
    if (isBehind && this.isOpen) await new Promise<void>((resolve) => this.#readers.push(resolve))
  }

  /** Closes the connection when what was sent has left, at the latest after a second; the client reconnects, unless it was told not to. */
  end() {
    if (this.#ending) return
    this.#ending = setTimeout(() => this.cut(), eventLimits.socketUnsentMs)
    this.release()
    const { transport } = this.engine
    // Not before what was sent has left; a client that does not poll at the moment is told when it does.
    const close = () => {
      if (transport.writable) this.engine.close()
    }
    close()
    transport.on("ready", close)
  }

  /** Closes the connection at once. */
  cut(reason?: string) {
    if (reason && this.engine.readyState !== "closed") this.onCut(reason)
    const socket = this.socket()
    this.engine.close(true)
    // Its close frame would wait behind what the client does not read.
    socket?.terminate()
    // A closing transport waits for the client to poll.
    if (this.engine.readyState !== "closed") this.engine.transport.emit("close")
  }

  private measure(packet: Packet) {
    // Otherwise it leaves at once.
    if (!this.engine.transport.writable) {
      // A client that polls gets no frame, whose few bytes would keep a block of 64 KB in memory (Buffer.poolSize).
      if (!this.socket()) packet.options = { ...packet.options, wsPreEncodedFrame: undefined }
      const { data, options } = packet
      this.#unsent.packets += 1
      this.#unsent.bytes += options?.wsPreEncodedFrame ? sizeOf(options.wsPreEncodedFrame) : Buffer.byteLength(data ?? "")
    }
    const bytes = this.#unsent.bytes + (this.socket()?.bufferedAmount ?? 0)
    if (this.#unsent.packets > eventLimits.subscriberBacklog || bytes > eventLimits.socketUnsentBytes) this.cut(readsTooSlowly)
  }

  private count() {
    const now = performance.now()
    if (now - this.#received.since >= 1000) this.#received = { count: 0, since: now }
    this.#received.count += 1
    if (this.#received.count > eventLimits.socketIoMessagesPerSecond)
      this.cut("connections of Socket.IO were closed, because their clients sent too many messages")
  }

  /** The WebSocket; undefined while the client polls. */
  private socket() {
    return (this.engine.transport as { socket?: WebSocket }).socket
  }

  private wakeReaders() {
    for (const wake of this.#readers.splice(0)) wake()
  }

  private release() {
    this.wakeReaders()
    for (const session of [...this.#sessions.values()]) session?.[Symbol.dispose]()
  }
}

/** A packet of Engine.IO; the frame is there when the packet goes to several WebSockets. */
interface Packet {
  data?: string | Buffer
  options?: { wsPreEncodedFrame?: Buffer[] | undefined }
}

const sizeOf = (buffers: Buffer[]) => buffers.reduce((bytes, { length }) => bytes + length, 0)
