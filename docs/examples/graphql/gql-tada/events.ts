import type { ResultOf, VariablesOf } from "gql.tada"
import { print } from "graphql"
import { createClient } from "graphql-ws"
import { events } from "./operations.ts"
import { token, url } from "./platform.ts"

// Prints each new message of any chat, until it is stopped.
const client = createClient({ url: `${url.replace(/^http/, "ws")}/graphql`, connectionParams: { accessToken: token } })
const variables: VariablesOf<typeof events> = { types: ["MESSAGE_CREATED"] }
for await (const { data } of client.iterate<ResultOf<typeof events>>({ query: print(events), variables })) {
  if (!data) continue
  console.log(`${data.events.type}: ${data.events.message?.text}`)
  // The client sends the variables again after a lost connection, and goes on with the next event.
  variables.after = data.events.id
}
