import type { AnyVariables, Exchange, TypedDocumentNode } from "urql"
import { pipe, tap } from "wonka"
import { inboxLimits } from "./limits.js"

/** Root fields whose answers say what events change. */
const toldByEvents = new Set(["chat", "chats", "message", "messages"])

interface HeldEvent {
  /** The reads that ran when it came, by their keys. */
  readonly reads: Set<number>
  readonly deliver: () => void
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Holds events until the reads that run when they come are answered: such an answer may be older than the event, and would undo in the cache what
 * the event changed. Events keep their order. An event waits for at most `inboxLimits.heldMs`.
 */
export class RunningReads {
  #running = new Set<number>()
  #held: HeldEvent[] = []

  /** Follows the reads of a client: it stands between its cache and its network. */
  readonly exchange: Exchange =
    ({ forward }) =>
    (operations) =>
      pipe(
        operations,
        tap(({ key, kind, query }) => {
          if (kind === "teardown") this.#ended(key)
          else if (kind === "query" && readsChats(query)) this.#running.add(key)
        }),
        forward,
        tap(({ operation }) => {
          // The cache has the answer when this task has ended.
          if (operation.kind === "query") queueMicrotask(() => this.#ended(operation.key))
        }),
      )

  /** Calls `deliver` when the reads that run now are answered, and the events before it delivered. */
  after(deliver: () => void): void {
    const reads = new Set(this.#running)
    this.#held.push({ reads, deliver, timer: setTimeout(() => this.#ended(...reads), inboxLimits.heldMs) })
    this.#deliver()
  }

  #ended(...keys: number[]) {
    for (const key of keys) {
      this.#running.delete(key)
      for (const { reads } of this.#held) reads.delete(key)
    }
    this.#deliver()
  }

  /** Delivers the first events that wait for no read. */
  #deliver() {
    while (this.#held[0]?.reads.size === 0) {
      const { timer, deliver } = this.#held.shift()!
      clearTimeout(timer)
      deliver()
    }
  }
}

/** Whether a query reads chats or messages. */
const readsChats = (query: TypedDocumentNode<unknown, AnyVariables>): boolean =>
  query.definitions.some(
    (definition) =>
      definition.kind === "OperationDefinition" &&
      definition.selectionSet.selections.some((field) => field.kind === "Field" && toldByEvents.has(field.name.value)),
  )
