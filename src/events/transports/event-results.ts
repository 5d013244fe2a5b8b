import { type Identity, reachOf } from "../../context/identity.js"
import type { PreparedOperation } from "../../graphql/engine.js"
import type { Variables } from "../../graphql/operation-cost.js"
import { variablesOfResult } from "../../graphql/used-variables.js"

/** The result of a subscription for an event, as it is sent. */
export interface EventResult {
  /** The end of the protocol's message, from the payload on: the same bytes for every subscriber. */
  bytes: Buffer
  /** Whether the event could not be completed, because a service does not answer. */
  isIncomplete: boolean
}

type Results = Map<PreparedOperation, Map<string, Promise<EventResult>>>

/**
 * The results of subscriptions for events. What several subscribers of this process select, and may read alike, is computed and encoded once
 * for all of them.
 */
export class EventResults {
  readonly #of = new WeakMap<object, Results>()

  /** Returns a function that gives the result of a subscription for an event; `make` computes one that is not known. */
  for(prepared: PreparedOperation, identity: Identity, variables: Variables) {
    const key = `${reachOf(identity)} ${variablesOfResult(prepared, variables)}`
    return (event: object, make: () => Promise<EventResult>): Promise<EventResult> => {
      const results = this.#of.get(event) ?? new Map()
      this.#of.set(event, results)
      const ofOperation = results.get(prepared) ?? new Map()
      results.set(prepared, ofOperation)
      const result = ofOperation.get(key) ?? make()
      ofOperation.set(key, result)
      return result
    }
  }
}

/**
 * Sends the result for each event, so that it need not be encoded for each subscriber. The iterator itself has no values; it ends when the
 * events do, when its reader ends it, or with an error, and then calls `end`.
 */
export function sendingEvents(
  events: AsyncIterator<object>,
  resultOf: (event: object) => Promise<EventResult>,
  send: (result: EventResult) => Promise<void> | void,
  end: () => void,
): AsyncIterableIterator<never> {
  let isEnded = false
  const sending: AsyncIterableIterator<never> = {
    async next() {
      try {
        for (;;) {
          const { done, value } = await events.next()
          if (done || isEnded) break
          const sent = send(await resultOf(value))
          // Most sockets take a result at once, and the others are waited for.
          if (sent) await sent
        }
      } finally {
        end()
      }
      return { done: true, value: undefined }
    },
    async return() {
      isEnded = true
      end()
      await events.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => sending,
  }
  return sending
}
