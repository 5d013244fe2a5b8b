// The events of a company with Apollo Client, without a gap after a lost connection. Needs @apollo/client, rxjs and graphql-ws, and Node.js 22 or a browser:
//   URL=ws://127.0.0.1:4000/graphql TOKEN=… node docs/examples/resume-apollo.js
import { ApolloClient, ApolloLink, gql, InMemoryCache } from "@apollo/client"
import { GraphQLWsLink } from "@apollo/client/link/subscriptions"
import { createClient } from "graphql-ws"
import { EMPTY, filter, from, repeat, tap } from "rxjs"

const { URL, TOKEN } = process.env

const socket = createClient({
  url: URL,
  connectionParams: { accessToken: TOKEN },
  // Also when nothing answers, as while a server restarts. Wrong credentials end it all the same.
  shouldRetry: () => true,
  retryAttempts: Number.POSITIVE_INFINITY,
})

// Apollo Client copies the variables of a subscription, so the cursor is written into the copy, which graphql-ws sends again after each connection.
const resuming = new ApolloLink((operation, forward) => {
  let isTooOld = false
  return forward(operation).pipe(
    tap(({ data, errors }) => {
      isTooOld = Boolean(errors?.some(({ extensions }) => extensions.code === "RESYNC_REQUIRED"))
      if (isTooOld) console.error(errors[0].message)
      if (data?.events) operation.variables.after = data.events.id
    }),
    filter(() => !isTooOld),
    // When it has ended: graphql-ws loses a subscription that begins before.
    repeat({
      delay() {
        return isTooOld ? from(resync(operation)) : EMPTY
      },
    }),
  )
})

const client = new ApolloClient({ link: ApolloLink.from([resuming, new GraphQLWsLink(socket)]), cache: new InMemoryCache() })

/** Where the log ends: what happens from now on comes as events. */
async function logEnd() {
  const { data } = await client.query({ query: gql`{ eventCursor }`, fetchPolicy: "no-cache" })
  return data.eventCursor
}

async function resync(operation) {
  operation.variables.after = await logEnd()
  // Read the current state here: the missed events are gone.
}

const query = gql`
  subscription ($after: String) {
    events(after: $after) {
      id
      type
      message {
        text
      }
    }
  }
`

const after = await logEnd()
// Read the current state here.

client.subscribe({ query, variables: { after }, fetchPolicy: "no-cache" }).subscribe({
  next({ data, error }) {
    if (error) return console.error(error.message)
    const { id, type, message } = data.events
    console.log(id, type, message?.text ?? "")
  },
  error: (error) => console.error(error),
})
