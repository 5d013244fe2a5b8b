import type { OperationTypeNode } from "graphql"
import { credentialOf, type Identity } from "../../context/identity.js"
import { Lanes } from "../../context/lanes.js"
import { RateLimited } from "../../errors/errors.js"
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

/** Executes subscriptions for their events: a few at once for each company, so that the requests of others find a database connection. */
export class EventExecutions {
  readonly #lanes = new Lanes(eventLimits.eventExecutions)

  run<T>(identity: Identity, execute: () => T | Promise<T>): Promise<T> {
    return this.#lanes.run("companyId" in identity ? identity.companyId : credentialOf(identity)!, execute)
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
