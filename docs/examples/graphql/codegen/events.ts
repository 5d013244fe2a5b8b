import { createClient } from "graphql-ws"
import { EventsDocument, type EventsSubscription, type EventsSubscriptionVariables } from "./generated/graphql.ts"
import { token, url } from "./platform.ts"

// Prints each new message of any chat, until it is stopped.
const client = createClient({ url: `${url.replace(/^http/, "ws")}/graphql`, connectionParams: { accessToken: token } })
const variables: EventsSubscriptionVariables = { types: ["MESSAGE_CREATED"] }
for await (const { data } of client.iterate<EventsSubscription>({ query: EventsDocument.toString(), variables })) {
  if (!data) continue
  console.log(`${data.events.type}: ${data.events.message?.text}`)
  // The client sends the variables again after a lost connection, and goes on with the next event.
  variables.after = data.events.id
}
