import { setImmediate } from "node:timers/promises"
import type { Namespace } from "socket.io"
import { DateTime } from "../../entities/kit/scalars.js"
import type { LoggedEvent } from "../logged-event.js"

/** Sends events to the sockets of a namespace; an event that several sockets get at the same time is encoded once for all of them. */
export class EventBatches {
  /** The IDs of the sockets that get an event; each socket has at most one event here, so that their order stays. */
  #waiting = new Map<LoggedEvent, string[]>()
  #sent: Promise<void> | null = null

  constructor(private readonly namespace: Namespace) {}

  /** Resolves when the event was handed to the connection of the socket; the next one may be sent then. */
  send(event: LoggedEvent, socketId: string): Promise<void> {
    const sockets = this.#waiting.get(event)
    if (sockets) sockets.push(socketId)
    else this.#waiting.set(event, [socketId])
    this.#sent ??= setImmediate().then(() => this.sendWaiting())
    return this.#sent
  }

  private sendWaiting() {
    const waiting = this.#waiting
    this.#waiting = new Map()
    this.#sent = null
    for (const [event, sockets] of waiting) {
      const { type, payload, id, createdAt } = event
      this.namespace.to(sockets).emit(type, { type, payload, id, createdAt: DateTime.serialize(createdAt) })
    }
  }
}
