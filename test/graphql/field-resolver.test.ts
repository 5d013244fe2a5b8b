import { extendSchema, type GraphQLSchema, parse } from "graphql"
import { createClient } from "graphql-ws"
import type pg from "pg"
import { Arg, Ctx, FieldResolver, Info, Resolver, Root } from "type-graphql"
import { WebSocket } from "ws"
import type { RequestContext } from "../../src/context/request-context.js"
import { selectionOf } from "../../src/context/selection.js"
import { hasMany, type PlannedRow } from "../../src/database/read-model.js"
import { Chat } from "../../src/entities/chat.js"
import { ChatFolder } from "../../src/entities/chat-folder.js"
import { Trimmed } from "../../src/entities/kit/scalars.js"
import { Message } from "../../src/entities/message.js"
import { checkObjectFields, refuseFieldResolvers } from "../../src/graphql/object-fields.js"
import { buildPlatformSchema, resolvers } from "../../src/graphql/schema.js"
import { routes } from "../../src/rest/kit/routes.js"
import { routeTable } from "../../src/rest/table.js"
import { assistantReadModel } from "../../src/schema/assistant.js"
import { Needs } from "../../src/schema/kit/needs.js"
import { messageReadModel } from "../../src/schema/message.js"
import { undoDeclarations } from "../kit/declarations.js"
import { endOfLog, parametersOf } from "../kit/sockets.js"
import { world } from "../kit/world.js"

undoDeclarations(resolvers, routeTable)

const messagesOfChat = hasMany(
  () => messageReadModel,
  "chatId",
  (query, ids) => query.where("t.chat_id", "=", ids).orderBy("t.sequence"),
)

/** Ordinary field resolvers of type-graphql. */
@Resolver(() => Chat)
class ChatExtras {
  @Needs<"Chat">("assistantId")
  @FieldResolver(() => String, { nullable: true, description: "Name of its assistant." })
  async assistantName(@Root() { assistantId }: PlannedRow<"Chat">, @Ctx() { reader }: RequestContext) {
    return assistantId ? (await reader.byId(assistantReadModel, assistantId, { name: {} }))?.name : null
  }

  @FieldResolver(() => [Message], { description: "Everything that was said." })
  said(@Root() { id }: PlannedRow<"Chat">, @Ctx() { reader }: RequestContext, @Info() info: never) {
    return reader.many(messagesOfChat, id, selectionOf(info))
  }

  @FieldResolver(() => String, { description: "A line about it." })
  line(
    @Root() chat: PlannedRow<"Chat">,
    @Ctx() { actor }: RequestContext,
    @Arg("prefix", () => Trimmed({ max: 4 }), { nullable: true, description: "Put before it." }) prefix?: string,
  ) {
    // Includes columns that no client can select.
    return `${prefix ?? ""}${chat.externalId} ${chat.messenger} ${chat.lastSequence} ${chat.companyId} ${actor.kind}`
  }
}

resolvers.push(ChatExtras)
routeTable.push(
  ...routes("Tests", {
    "GET /api/chats/{id}/extras": {
      summary: "A chat with what field resolvers say of it.",
      document: `query ($id: UUID!) { chat(id: $id) { id messenger assistantName line(prefix: " > ") said { id text } } }`,
      errorStatuses: [404],
    },
  }),
)

const w = world()
const { acme, gql, rest } = w

const extras = `{ id assistantName line(prefix: " > ") said { id text } }`

/** The expected fields of a chat. */
const expected = (chat: { id: string; externalId: string }, messages: { id: string; text: string }[] = []) => ({
  id: chat.id,
  assistantName: acme.assistant.name,
  line: `>${chat.externalId} playground ${messages.length} ${acme.id} token`,
  said: messages.map(({ id, text }) => ({ id, text })),
})

const aChat = () => acme.chat({ assistantId: acme.assistant.id })

/** The statements that were sent during a call. */
async function plannedReads(work: () => PromiseLike<unknown>): Promise<string[]> {
  const { prototype } = (w.services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const sent = jest.spyOn(prototype, "query")
  await work()
  const texts = sent.mock.calls.map(([config]) => (config as unknown as { text?: string }).text ?? String(config))
  sent.mockRestore()
  return texts.filter((text) => / from "\w+" as "t"/.test(text))
}

/** The results of an operation over graphql-transport-ws. */
async function overSocket(query: string, variables: Record<string, unknown>, work: (next: () => Promise<unknown>) => Promise<void>) {
  const client = createClient({
    url: `${w.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(acme.token),
    retryAttempts: 0,
  })
  const results = client.iterate({ query, variables })
  await work(async () => (await results.next()).value).finally(() => client.dispose())
}

describe("a field resolver", () => {
  it("gets the row, the context and its arguments over GraphQL, alone and in a list", async () => {
    const chat = await aChat()
    const message = await acme.message({ chatId: chat.id, text: "Hello" })
    const one = await gql(acme.token, `query ($id: UUID!) { chat(id: $id) ${extras} }`, { id: chat.id })
    expect(one).toMatchObject({ data: { chat: expected(chat, [message]) } })
    const list = await gql(acme.token, `{ chats(first: 1) { nodes ${extras} edges { node ${extras} } } }`)
    expect(list.data.chats).toEqual({ nodes: [expected(chat, [message])], edges: [{ node: expected(chat, [message]) }] })
  })

  it("sees what a mutation has written", async () => {
    const chat = await aChat()
    const { data } = await gql(acme.token, `mutation ($id: UUID!) { markChatRead(id: $id) ${extras} }`, { id: chat.id })
    expect(data.markChatRead).toEqual(expected(chat))
  })

  it("reads its text arguments like a root field, with a variable of type String, and refuses what is too long", async () => {
    const chat = await aChat()
    const query = "query ($id: UUID!, $prefix: String) { chat(id: $id) { line(prefix: $prefix) } }"
    const { data } = await gql(acme.token, query, { id: chat.id, prefix: "  ab " })
    expect(data.chat.line).toBe(`ab${chat.externalId} playground 0 ${acme.id} token`)
    const { errors } = await gql(acme.token, query, { id: chat.id, prefix: "abcde" })
    expect(errors).toMatchObject([{ path: ["chat", "line"], extensions: { code: "BAD_USER_INPUT", details: [{ path: "prefix" }] } }])
  })

  it("works over graphql-ws", async () => {
    const chat = await aChat()
    await overSocket(`query ($id: UUID!) { chat(id: $id) ${extras} }`, { id: chat.id }, async (next) => {
      expect(await next()).toEqual({ data: { chat: expected(chat) } })
    })
  })

  it("works in an event, whose snapshot lacks columns that it needs, and sees changes since the previous event", async () => {
    const after = await endOfLog(w)
    const assistant = (await rest.as(acme.token).post("/api/assistants-new", { name: "Iris" }).expect(201)).body
    const chat = await acme.chat({ assistantId: assistant.id })
    const query =
      "subscription ($chatId: UUID, $after: String) { events(chatId: $chatId, after: $after) { type chat { id assistantName line } } }"
    const event = (type: string, assistantName: string) => {
      const line = `${chat.externalId} playground 0 ${acme.id} token`
      return { data: { events: { type, chat: { id: chat.id, assistantName, line } } } }
    }
    await overSocket(query, { chatId: chat.id, after }, async (next) => {
      expect(await next()).toEqual(event("CHAT_CREATED", "Iris"))
      await rest.as(acme.token).patch(`/api/assistants-new/${assistant.id}`, { name: "Rose" }).expect(200)
      await rest.as(acme.token).post(`/api/chats/${chat.id}/meta/comments`, { text: "Seen" }).expect(201)
      expect(await next()).toEqual(event("CHAT_UPDATED", "Rose"))
    })
  })

  it("works in the document of a REST route", async () => {
    const chat = await aChat()
    // The committed OpenAPI document does not have the route of this test, so the response is not held against it.
    const response = await fetch(`${w.url}/api/chats/${chat.id}/extras`, { headers: { "X-Access-Token": acme.token } })
    expect([response.status, await response.json()]).toEqual([200, { ...expected(chat), messenger: "playground" }])
  })

  it("loads through DataLoaders: the number of statements does not depend on the size of the page", async () => {
    for (let made = 0; made < 12; made++) await acme.message({ chatId: (await aChat()).id })
    const page = (first: number) => plannedReads(() => gql(acme.token, `{ chats(first: ${first}) { nodes ${extras} } }`))
    const [small, large] = [await page(1), await page(12)]
    expect(small.length).toBe(3)
    expect(large.length).toBe(3)
  })

  it("makes the parent read the columns in @Needs, and all of them without @Needs", async () => {
    const [needing] = await plannedReads(() => gql(acme.token, "{ chats(first: 1) { nodes { assistantName } } }"))
    expect(needing).toContain('"t"."assistant_id"')
    expect(needing).not.toContain('"t"."messenger"')
    const [whole] = await plannedReads(() => gql(acme.token, "{ chats(first: 1) { nodes { line } } }"))
    expect(whole).toContain('"t"."last_sequence"')
  })
})

describe("the members of a company", () => {
  it("take four statements over GraphQL and REST, whatever their number", async () => {
    const read = () => plannedReads(() => rest.as(acme.token).get(`/api/companies/${acme.id}`).expect(200))
    const asked = `query ($id: UUID!) { company(id: $id) { members { role name email } subscriptions { plan } } }`
    const query = () => plannedReads(() => gql(acme.token, asked, { id: acme.id }))
    const [few, asGraphql] = [await read(), await query()]
    for (let joined = 0; joined < 5; joined++) await acme.person()
    expect([few.length, asGraphql.length]).toEqual([4, 4])
    expect([(await read()).length, (await query()).length]).toEqual([4, 4])
    const { data } = await gql(acme.token, asked, { id: acme.id })
    expect(data.company.members).toHaveLength(8)
    expect(data.company.members[0]).toEqual({ role: "OWNER", name: acme.owner.name, email: acme.owner.email })
  })
})

describe("the server refuses to start", () => {
  const build = () => buildPlatformSchema(w.services.database.orm)
  let schema: GraphQLSchema
  beforeAll(() => {
    // Built before the invalid ones below: type-graphql keeps the fields of every resolver class.
    schema = build()
  })

  it("with a field of an entity that is neither column, relation nor field resolver", () => {
    const extended = extendSchema(schema, parse("extend type Chat { mystery: String } extend type PageInfo { ours: String }"))
    expect(() => checkObjectFields(extended, w.services.database.orm)).toThrow(/^Chat\.mystery has no source/)
  })

  it("with a field resolver that needs something else than a column", () => {
    @Resolver(() => Chat)
    class Wrong {
      @Needs<"Chat">("nothing" as never)
      @FieldResolver(() => String, { description: "Wrong." })
      wrong() {
        return "wrong"
      }
    }
    resolvers.push(Wrong)
    expect(build).toThrow("Chat.wrong needs nothing, which is no column of Chat")
    resolvers.pop()
  })

  it("with a field that is a relation and a field resolver", () => {
    @Resolver(() => Chat)
    class Twice {
      @FieldResolver(() => ChatFolder, { nullable: true, description: "Wrong." })
      folder() {
        return null
      }
    }
    resolvers.push(Twice)
    expect(build).toThrow("Chat.folder is both a relation of the read model of Chat and a @FieldResolver")
    resolvers.pop()
  })

  it("with a field resolver in the representation of an event", () => {
    const document = parse("query ($id: UUID!) { chat(id: $id) { id assistantName } }")
    expect(() => refuseFieldResolvers(schema, document)).toThrow(/^Chat\.assistantName is a @FieldResolver, which events cannot show/)
    expect(() => refuseFieldResolvers(schema, parse("query ($id: UUID!) { chat(id: $id) { id tags { name } } }"))).not.toThrow()
  })
})
