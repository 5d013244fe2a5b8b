import type { Exchange, Operation } from "urql"
import { pipe, tap } from "wonka"
import { inboxLimits } from "./limits.js"

/** Root fields of queries that read what events change. */
const toldByEvents = new Set(["chat", "chats", "message", "messages"])

/** Whether the answer to a request says what events change. A mutation may answer with a chat or a message. */
const isToldByEvents = ({ kind, query }: Operation): boolean =>
  kind === "mutation" ||
  (kind === "query" &&
    query.definitions.some(
      (definition) =>
        definition.kind === "OperationDefinition" &&
        definition.selectionSet.selections.some((field) => field.kind === "Field" && toldByEvents.has(field.name.value)),
    ))

interface HeldEvent {
  /** The requests that ran when it came, by their keys. */
  readonly requests: Set<number>
  readonly deliver: () => void
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Holds events until the requests that run when they come are answered: such an answer may be older than the event, and would undo in the cache
 * what the event changed. Events keep their order. An event waits for at most `inboxLimits.heldMs`.
 */
export class RunningRequests {
  #running = new Set<number>()
  #held: HeldEvent[] = []

  /** Follows the requests of a client: it stands between its cache and its network. */
  readonly exchange: Exchange =
    ({ forward }) =>
    (operations) =>
      pipe(
        operations,
        tap((operation) => {
          if (operation.kind === "teardown") this.#ended(operation.key)
          else if (isToldByEvents(operation)) this.#running.add(operation.key)
        }),
        forward,
        tap(({ operation }) => {
          // The cache has the answer when this task has ended.
          if (operation.kind !== "subscription") queueMicrotask(() => this.#ended(operation.key))
        }),
      )

  /** Calls `deliver` when the requests that run now are answered, and the events before it delivered. */
  after(deliver: () => void): void {
    const requests = new Set(this.#running)
    this.#held.push({ requests, deliver, timer: setTimeout(() => this.#ended(...requests), inboxLimits.heldMs) })
    this.#deliver()
  }

  #ended(...keys: number[]) {
    for (const key of keys) {
      this.#running.delete(key)
      for (const { requests } of this.#held) requests.delete(key)
    }
    this.#deliver()
  }

  /** Delivers the first events that wait for no request. */
  #deliver() {
    while (this.#held[0]?.requests.size === 0) {
      const { timer, deliver } = this.#held.shift()!
      clearTimeout(timer)
      deliver()
    }
  }
}
