import { type Client, createClient, fetchExchange, subscriptionExchange } from "urql"
import { normalizedCache } from "./cache.js"
import { inboxLimits } from "./limits.js"
import { cursorQuery } from "./operations.js"
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
  const end = async () => (await client.query(cursorQuery, {}, { requestPolicy: "network-only" }).toPromise()).data?.eventCursor ?? null
  const events = new Cursors(end, listener.missed)
  const socket = openSocket(listener.connected)
  const resyncAfter = (errors: readonly { extensions?: Record<string, unknown> }[] = []) => {
    if (errors.some(({ extensions }) => extensions?.["code"] === "RESYNC_REQUIRED")) listener.resync()
  }
  const client: Client = createClient({
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
            let stopped = false
            let end = () => {}
            const open = () => {
              if (stopped) return
              end = socket.subscribe<{ events?: { id: string } }, Record<string, unknown>>(
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
            }
            if (companyId) void events.follow(companyId, sent, () => stopped).then(open)
            else open()
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

/** The last event of each company, after which its events go on. */
class Cursors {
  #last = new Map<string, string>()

  /** `end` reads the cursor of the end of the log; null when the server does not answer now. */
  constructor(
    private readonly end: () => Promise<string | null>,
    private readonly missed: () => void,
  ) {}

  /** Gives a subscription its cursor: the last event of the company, or the end of the log, once that is known; then what is shown is read again. */
  async follow(companyId: string, variables: Record<string, unknown>, isStopped: () => boolean) {
    // The socket reads the variables whenever it subscribes again.
    Object.defineProperty(variables, "after", { enumerable: true, get: () => this.#last.get(companyId) })
    while (!this.#last.has(companyId) && !isStopped()) {
      const cursor = await this.end()
      if (cursor === null) await new Promise((resolve) => setTimeout(resolve, inboxLimits.subscribeAgainMs))
      else if (!this.#last.has(companyId)) {
        this.#last.set(companyId, cursor)
        this.missed()
      }
    }
  }

  received(companyId: string, id: string) {
    this.#last.set(companyId, id)
  }
}
