import { type Client, createClient, fetchExchange, subscriptionExchange } from "urql"
import { normalizedCache } from "./cache.js"
import { inboxLimits } from "./limits.js"
import { fetchSignedIn } from "./session.js"
import { openSocket } from "./socket.js"

/** What a client tells the page. */
export interface ClientListener {
  connected(isConnected: boolean): void
  /** Events may have been missed: what is shown is to be read again. */
  missed(): void
  /** The server no longer has the events after the last one. */
  resync(): void
}

/** A GraphQL client with a normalized cache; a company's events go on after the last one when the connection was lost, or another company was shown. */
export function openClient(listener: ClientListener): { client: Client; close(): void } {
  const events = new Cursors(listener)
  const socket = openSocket((isConnected) => {
    listener.connected(isConnected)
    if (isConnected) events.begin()
  })
  const resyncAfter = (errors: readonly { extensions?: Record<string, unknown> }[] = []) => {
    if (errors.some(({ extensions }) => extensions?.["code"] === "RESYNC_REQUIRED")) listener.resync()
  }
  const client = createClient({
    url: "/graphql",
    preferGetMethod: false,
    fetch: fetchSignedIn,
    exchanges: [
      normalizedCache(),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => {
            const companyId = variables?.["after"] === null ? (variables["companyId"] as string) : null
            const sent = { ...variables } as Record<string, unknown>
            if (companyId) events.follow(companyId, sent)
            let stopped = false
            const end = socket.subscribe<{ events?: { id: string } }, Record<string, unknown>>(
              { query: query!, variables: sent },
              {
                // An error of the subscription's start comes as a result, too.
                next: (result) => {
                  resyncAfter(result.errors)
                  if (companyId && result.data?.events) events.received(companyId, result.data.events.id)
                  sink.next(result)
                },
                error: (error) => {
                  if (Array.isArray(error)) resyncAfter(error)
                  sink.error(error)
                },
                complete: () => {
                  if (!stopped) sink.error(new Error("The server ended the subscription"))
                },
              },
            )
            return {
              unsubscribe() {
                stopped = true
                end()
              },
            }
          },
        }),
      }),
    ],
  })
  return {
    client,
    close() {
      events.stop()
      void socket.dispose()
    },
  }
}

/** The last event of each company, and the company whose events are followed. */
class Cursors {
  #last = new Map<string, string>()
  #followed: string | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(readonly listener: ClientListener) {}

  /** Follows a company. The socket reads the variables whenever it subscribes again, so `after` is the last event then. */
  follow(companyId: string, variables: Record<string, unknown>) {
    this.#followed = companyId
    Object.defineProperty(variables, "after", { enumerable: true, get: () => this.#last.get(companyId) ?? null })
    this.begin()
  }

  received(companyId: string, id: string) {
    this.#last.set(companyId, id)
  }

  /** A subscription begins without a cursor: the server does not say when it is active, so what happened until then is read a moment later. */
  begin() {
    this.stop()
    if (this.#followed && !this.#last.has(this.#followed)) this.#timer = setTimeout(this.listener.missed, inboxLimits.subscribedMs)
  }

  stop() {
    clearTimeout(this.#timer)
  }
}
