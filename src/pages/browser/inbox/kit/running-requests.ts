import type { Exchange, Operation } from "@urql/core"
import { pipe, tap } from "wonka"
import { inboxLimits } from "./limits.js"

/** Root fields of the inbox that answer with what events change: chats and messages. */
export const toldByEvents: ReadonlySet<string> = new Set([
  "addChatComment",
  "addChatLabel",
  "assignManager",
  "chat",
  "chats",
  "createChat",
  "createMessage",
  "markChatRead",
  "markChatUnread",
  "message",
  "messages",
  "removeChatComment",
  "removeChatLabel",
  "retryMessage",
  "setAiControl",
  "setChatFolder",
  "takeOverChat",
  "updateChat",
])

const isToldByEvents = ({ query }: Operation): boolean =>
  query.definitions.some(
    (definition) =>
      definition.kind === "OperationDefinition" &&
      definition.selectionSet.selections.some((field) => field.kind === "Field" && toldByEvents.has(field.name.value)),
  )

interface Request {
  /** Of its operation; the same mutation with the same variables has the same. */
  readonly key: number
}

interface HeldEvent {
  /** What ran when it came, and is not answered. */
  readonly requests: Set<Request>
  readonly deliver: () => void
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Holds events until the requests that run when they come are answered: such an answer may be older than the event, and would undo in the cache
 * what the event changed. Events keep their order. An event waits for at most `inboxLimits.heldMs`.
 */
export class RunningRequests {
  #running = new Set<Request>()
  #held: HeldEvent[] = []

  /**
   * A cache, and what follows the requests of its client. Mutations are followed before the cache, which writes the answers to optimistic ones
   * together, when it has the last one; queries after it, where each one that goes to the network has one answer.
   */
  around(cache: Exchange): Exchange[] {
    return [this.#following("mutation"), cache, this.#following("query")]
  }

  /** Calls `deliver` when the requests that run now are answered, and the events before it delivered. */
  after(deliver: () => void): void {
    const requests = new Set(this.#running)
    this.#held.push({ requests, deliver, timer: setTimeout(() => this.#end(...requests), inboxLimits.heldMs) })
    this.#deliver()
  }

  #following(followed: "mutation" | "query"): Exchange {
    return ({ forward }) =>
      (operations) =>
        pipe(
          operations,
          tap((operation) => {
            const { kind, key } = operation
            if (kind === "teardown") this.#end(...this.#withKey(key))
            else if (kind === followed && isToldByEvents(operation)) this.#running.add({ key })
          }),
          forward,
          tap(({ operation: { kind, key } }) => {
            // The cache and the views get the answer when this function has returned.
            if (kind === followed) queueMicrotask(() => this.#end(...this.#withKey(key).slice(0, 1)))
          }),
        )
  }

  #withKey(key: number) {
    return [...this.#running].filter((request) => request.key === key)
  }

  #end(...ended: Request[]) {
    for (const request of ended) {
      this.#running.delete(request)
      for (const { requests } of this.#held) requests.delete(request)
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
