// The events of a company with graphql-ws, without a gap after a lost connection. Needs graphql-ws, and Node.js 22 or a browser:
//   URL=ws://127.0.0.1:4000/graphql TOKEN=… node docs/examples/resume-graphql-ws.js
import { createClient } from "graphql-ws"

const { URL, TOKEN } = process.env

const client = createClient({
  url: URL,
  connectionParams: { accessToken: TOKEN },
  // Also when nothing answers, as while a server restarts. Wrong credentials end it all the same.
  shouldRetry: () => true,
  retryAttempts: Number.POSITIVE_INFINITY,
})

const query = "subscription ($after: String) { events(after: $after) { id type message { text } } }"
// After each connection the client sends this object again: with the ID of the last event it goes on where it stopped.
const variables = { after: null }

/** Where the log ends: what happens from now on comes as events. */
async function logEnd() {
  const { value } = await client.iterate({ query: "{ eventCursor }" }).next()
  if (value.errors) throw new Error(value.errors[0].message)
  return value.data.eventCursor
}

async function follow() {
  let isTooOld = false
  variables.after = await logEnd()
  // Read the current state here: at first, and when the missed events are gone.
  client.subscribe(
    { query, variables },
    {
      next({ data, errors }) {
        isTooOld = Boolean(errors?.some(({ extensions }) => extensions.code === "RESYNC_REQUIRED"))
        if (errors) return console.error(errors[0].message)
        const { id, type, message } = data.events
        console.log(id, type, message?.text ?? "")
        // Only now: an event that was not processed comes again.
        variables.after = id
      },
      error: (error) => console.error(error),
      complete() {
        if (isTooOld) follow().catch(console.error)
      },
    },
  )
}

follow().catch(console.error)
