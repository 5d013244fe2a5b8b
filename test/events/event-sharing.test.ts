import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { promised } from "../kit/promise.js"
import { endOfLog, parametersOf } from "../kit/sockets.js"
import { statementsOf } from "../kit/statements.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest } = w

const query = `subscription ($deep: Boolean!, $after: String, $companyId: UUID) {
  events(after: $after, companyId: $companyId, types: [CHAT_UPDATED]) { chat { name assistant @include(if: $deep) { name } } }
}`

/** A subscriber of changed chats, with their assistants or without. */
async function subscriber(credential: string, deep: boolean) {
  const client = createClient({
    url: `${w.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(credential),
    retryAttempts: 0,
  })
  const results = client.iterate<{ events: { chat: object } }>({ query, variables: { deep, after: await endOfLog(w) } })
  return {
    next: async () => (await results.next()).value.data.events.chat,
    async stop() {
      await results.return?.()
      await client.dispose()
    },
  }
}

promised("what subscribers select alike is read once for those of the same reach, and not mixed with what others select", async () => {
  const chat = await acme.chat({ assistantId: acme.assistant.id })
  const { body: made } = await rest.as(acme.owner.jwt).post(`/api/companies/${acme.id}/access-tokens`, { name: "Another" }).expect(201)
  const foreign = await globex.chat({ assistantId: globex.assistant.id })
  const subscribers = [
    await subscriber(acme.token, true),
    await subscriber(made.token, true),
    await subscriber(acme.token, true),
    await subscriber(acme.token, false),
    await subscriber(acme.owner.jwt, true),
    await subscriber(globex.token, true),
  ]
  const rename = (name: string) =>
    Promise.all([
      rest.as(acme.token).patch(`/api/chats/${chat.id}`, { name }).expect(200),
      rest.as(globex.token).patch(`/api/chats/${foreign.id}`, { name: "Foreign" }).expect(200),
    ])
  const heard = async (name: string) => {
    const found = await Promise.all(subscribers.map(({ next }) => next()))
    const [ours, theirs] = [acme, globex].map(({ assistant }) => ({ name: assistant.name }))
    const shown = { name, assistant: ours }
    expect(found).toEqual([shown, shown, shown, { name }, shown, { name: "Foreign", assistant: theirs }])
  }
  await rename("Ada")
  await heard("Ada")
  // All of them are live now.
  const statements = await statementsOf(w, async () => {
    await rename("Ada L.")
    await heard("Ada L.")
  })
  // The assistant, for the tokens of Acme, for its owner, and for Globex.
  expect(statements).toHaveLength(3)
  await Promise.all(subscribers.map(({ stop }) => stop()))
})
