import { type Outcome, send } from "./api.js"
import { pauseMs, wait, waitAll } from "./pauses.js"
import type { Store } from "./store.js"
import type { Options, Pending } from "./types.js"

/** What the outbox reports. */
export interface OutboxListener {
  stored(pending: Pending, outcome: Outcome & { kind: "stored" }): void
  refused(pending: Pending, reason: string): void
  /** The chat of the token has ended: the message begins a new one. */
  ended(): void
  gone(): void
  /** A message waits for a connection, or for the server. */
  waiting(): void
}

/** Sends what the store keeps, in order, one message at a time and from one tab at a time. */
export class Outbox {
  #running = false
  #isGone = false

  constructor(
    private readonly options: Options,
    private readonly store: Store,
    private readonly listener: OutboxListener,
  ) {}

  /** Sends all messages; does nothing while it already does. */
  async flush() {
    if (this.#running || this.#isGone) return
    this.#running = true
    try {
      // Without the lock (a page without HTTPS, a sandboxed frame) two tabs may send the same message: the server stores it once.
      let isLocked = false
      const sendLocked = () => {
        isLocked = true
        return this.#sendAll()
      }
      await navigator.locks?.request(`assistant-widget:${this.options.connectionId}`, sendLocked).catch((error) => {
        if (isLocked) throw error
      })
      if (!isLocked) await this.#sendAll()
    } finally {
      this.#running = false
    }
    // Written after the last look, while the lock was being given back.
    if (!this.#isGone && this.store.outbox.length > 0) void this.flush()
  }

  async #sendAll() {
    let failures = 0
    for (let [first] = this.store.outbox; first; [first] = this.store.outbox) {
      const token = this.store.visitor?.token ?? null
      const outcome = await send(this.options, first, token, this.store.name)
      if (outcome.kind === "gone") {
        this.#isGone = true
        return this.listener.gone()
      }
      if (outcome.kind === "later") {
        this.listener.waiting()
        await (outcome.afterMs ? waitAll(outcome.afterMs) : wait(pauseMs(failures)))
        failures += 1
        continue
      }
      failures = 0
      if (outcome.kind === "ended") {
        // Another tab may have begun a new chat already.
        if (this.store.visitor?.token === token) this.store.visitor = null
        this.listener.ended()
        continue
      }
      if (outcome.kind === "stored") {
        this.store.visitor = { chatId: outcome.chatId, token: outcome.token }
        this.listener.stored(first, outcome)
      } else this.listener.refused(first, outcome.reason)
      this.store.remove(first)
    }
  }
}
