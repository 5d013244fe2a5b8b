import type { OperationTypeNode } from "graphql"
import { credentialOf, type Identity } from "../../context/identity.js"
import { RateLimited } from "../../errors.js"
import { eventLimits } from "../limits.js"

/** Counts an operation of a socket until the returned function is called; throws RateLimited when too many run. */
export type BeginOperation = (kind: OperationTypeNode) => () => void

/** Limits the operations and subscriptions that run at once on the sockets of this process (contract, section 7). */
export class SocketOperations {
  /** Running subscriptions by credential. */
  readonly #subscriptions = new Map<string, number>()

  /** The counter of one socket. */
  of(identity: Identity): BeginOperation {
    const credential = credentialOf(identity)!
    const allowed = identity.kind === "visitor" ? eventLimits.visitorSubscriptions : eventLimits.socketSubscriptions
    const running = { operation: 0, subscription: 0 }
    return (kind) => {
      if (kind !== "subscription") {
        if (running.operation >= eventLimits.socketOperations)
          throw tooMany(`A socket runs at most ${eventLimits.socketOperations} operations at once: wait for the results of earlier ones`)
        running.operation += 1
        return once(() => {
          running.operation -= 1
        })
      }
      if (running.subscription >= allowed) throw tooMany(`A socket has at most ${allowed} subscriptions: end one first`)
      const ofCredential = this.#subscriptions.get(credential) ?? 0
      if (ofCredential >= eventLimits.credentialSubscriptions)
        throw tooMany(`A credential has at most ${eventLimits.credentialSubscriptions} subscriptions: end one first`)
      running.subscription += 1
      this.#subscriptions.set(credential, ofCredential + 1)
      return once(() => {
        running.subscription -= 1
        const left = this.#subscriptions.get(credential)! - 1
        if (left > 0) this.#subscriptions.set(credential, left)
        else this.#subscriptions.delete(credential)
      })
    }
  }
}

/** No time is known after which it would succeed. */
const tooMany = (message: string) => new RateLimited(1, message)

function once(end: () => void): () => void {
  let ended = false
  return () => {
    if (!ended) end()
    ended = true
  }
}

/** The same iterator; `end` is called when it has ended in any way. */
export function endingWith<T>(source: AsyncIterable<T>, end: () => void): AsyncIterableIterator<T> {
  const iterator = source[Symbol.asyncIterator]()
  const ending = async (result: Promise<IteratorResult<T>>) => {
    try {
      const { done, value } = await result
      if (done) end()
      return { done, value } as IteratorResult<T>
    } catch (error) {
      end()
      throw error
    }
  }
  const wrapped: AsyncIterableIterator<T> = {
    next: () => ending(iterator.next()),
    return: () => {
      end()
      return iterator.return?.() ?? Promise.resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]: () => wrapped,
  }
  return wrapped
}
