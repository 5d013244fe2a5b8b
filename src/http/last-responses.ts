import type { ServerResponse } from "node:http"

/**
 * Ends connections at a stop: from then on each response is the last one of its connection. Otherwise a proxy that keeps connections would go on
 * sending requests over them, and the stop would never end.
 */
export class LastResponses {
  readonly #open = new Set<ServerResponse>()
  #isStopping = false

  /** Tracks a response until it has left. */
  add(response: ServerResponse) {
    response.shouldKeepAlive &&= !this.#isStopping
    this.#open.add(response)
    response.once("close", () => this.#open.delete(response))
  }

  /** Makes the responses that have not begun, and all later ones, say `Connection: close`. */
  stop() {
    this.#isStopping = true
    for (const response of this.#open) response.shouldKeepAlive = false
  }
}
