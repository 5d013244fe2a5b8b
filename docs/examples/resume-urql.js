// The events of a company with urql, without a gap after a lost connection. Needs @urql/core and graphql-ws, and Node.js 22 or a browser:
//   URL=ws://127.0.0.1:4000/graphql TOKEN=… node docs/examples/resume-urql.js
import { Client, subscriptionExchange } from "@urql/core"
import { createClient } from "graphql-ws"

const { URL, TOKEN } = process.env

const socket = createClient({
  url: URL,
  connectionParams: { accessToken: TOKEN },
  // Also when nothing answers, as while a server restarts. Wrong credentials end it all the same.
  shouldRetry: () => true,
  retryAttempts: Number.POSITIVE_INFINITY,
})

/** Where the log ends: what happens from now on comes as events. */
async function logEnd() {
  const { value } = await socket.iterate({ query: "{ eventCursor }" }).next()
  if (value.errors) throw new Error(value.errors[0].message)
  return value.data.eventCursor
}

const client = new Client({
  url: URL.replace(/^ws/, "http"),
  exchanges: [
    subscriptionExchange({
      forwardSubscription: ({ query, variables: given }) => ({
        subscribe(sink) {
          // urql keeps its variables; after each connection graphql-ws sends this object again.
          const variables = { ...given }
          let isOver = false
          let unsubscribe
          const resync = async () => {
            variables.after = await logEnd()
            // Read the current state here: the missed events are gone.
            if (!isOver) follow()
          }
          const follow = () => {
            let isTooOld = false
            const next = (result) => {
              isTooOld = Boolean(result.errors?.some(({ extensions }) => extensions.code === "RESYNC_REQUIRED"))
              if (isTooOld) return console.error(result.errors[0].message)
              sink.next(result)
              if (result.data?.events) variables.after = result.data.events.id
            }
            const complete = () => {
              if (!isTooOld) return sink.complete()
              resync().catch(sink.error)
            }
            unsubscribe = socket.subscribe({ query, variables }, { ...sink, next, complete })
          }
          follow()
          return {
            unsubscribe() {
              isOver = true
              unsubscribe()
            },
          }
        },
      }),
    }),
  ],
})

const query = "subscription ($after: String) { events(after: $after) { id type message { text } } }"

const after = await logEnd()
// Read the current state here.

client.subscription(query, { after }).subscribe(({ data, error }) => {
  if (error) return console.error(error)
  const { id, type, message } = data.events
  console.log(id, type, message?.text ?? "")
})
