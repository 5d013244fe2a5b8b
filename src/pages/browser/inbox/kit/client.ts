import { type Client, createClient, fetchExchange, subscriptionExchange } from "urql"
import { normalizedCache } from "./cache.js"
import { RunningRequests } from "./running-requests.js"
import { fetchSignedIn } from "./session.js"
import { openSocket } from "./socket.js"

/** What a client tells the page. */
export interface ClientListener {
  connected(isConnected: boolean): void
  /** The server no longer has the events after the last one. */
  resync(): void
}

/**
 * A GraphQL client with a normalized cache. A subscription with `after` goes on after the last event of its company when the connection was lost, or
 * another company was shown.
 */
export function openClient(listener: ClientListener): { client: Client; close(): void } {
  const lastEvents = new Map<string, string>()
  const socket = openSocket(listener.connected)
  const requests = new RunningRequests()
  const resyncAfter = (errors: readonly { extensions?: Record<string, unknown> }[] = []) => {
    if (errors.some(({ extensions }) => extensions?.["code"] === "RESYNC_REQUIRED")) listener.resync()
  }
  const client = createClient({
    url: "/graphql",
    preferGetMethod: false,
    fetch: fetchSignedIn,
    exchanges: [
      ...requests.around(normalizedCache()),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => {
            const sent = { ...variables } as Record<string, unknown>
            const companyId = "after" in sent ? (sent["companyId"] as string) : null
            // Events that came and are held are delivered also after the socket connects again.
            let received: string | undefined
            // The socket reads the variables whenever it subscribes again.
            if (companyId)
              Object.defineProperty(sent, "after", { get: () => received ?? lastEvents.get(companyId) ?? variables?.["after"] })
            let stopped = false
            const end = socket.subscribe<{ events?: { id: string } }, Record<string, unknown>>(
              { query: query!, variables: sent },
              {
                // An error of the subscription's start comes as a result, too.
                next: (result) => {
                  resyncAfter(result.errors)
                  const event = result.data?.events
                  if (!companyId || !event) return sink.next(result)
                  received = event.id
                  requests.after(() => {
                    if (stopped) return
                    lastEvents.set(companyId, event.id)
                    sink.next(result)
                  })
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
  return { client, close: () => void socket.dispose() }
}
