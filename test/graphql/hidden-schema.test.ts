import { getIntrospectionQuery } from "graphql"
import supertest from "supertest"
import { duration, pace } from "../kit/pace.js"
import { rawSocket } from "../kit/sockets.js"
import { world } from "../kit/world.js"

// Both servers are in one process and share the prepared operations of their schema.
const w = world({ GRAPHQL_INTROSPECTION: "off" })
const { acme, rest, gql } = w

const asked = [
  getIntrospectionQuery(),
  '{ __type(name: "Chat") { name } }',
  "{ chatFolders { id } ...F } fragment F on Query { __schema { types { name } } }",
]
const refused = { code: "GRAPHQL_VALIDATION_FAILED", statusCode: 400 }
const everywhere = (answer: { errors?: { message: string }[] }) => answer.errors!.map(({ message }) => message).join("\n")

describe("GRAPHQL_INTROSPECTION=off", () => {
  let open: Awaited<ReturnType<typeof w.another>>

  beforeAll(async () => {
    open = await w.another({ GRAPHQL_INTROSPECTION: "on" })
  })

  it("refuses introspection over HTTP and sockets, with and without credentials", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    for (const query of asked) {
      const shown = await supertest(open.url).post("/graphql").set("X-Access-Token", acme.token).send({ query }).expect(200)
      expect(shown.body.errors).toBeUndefined()
      for (const credential of [acme.token, acme.owner.jwt, null]) {
        const { data, errors } = await gql(credential, query)
        expect(data).toBeUndefined()
        expect(errors![0]).toMatchObject({ message: expect.stringMatching(/introspection/i), extensions: refused })
      }
      const { body } = await rest.as(acme.token).get(`/graphql?query=${encodeURIComponent(query)}`)
      expect(body.errors[0].extensions).toMatchObject(refused)
      const [error] = await socket.ask(query)
      expect(error.type).toBe("error")
      expect(error.payload[0].extensions).toMatchObject(refused)
    }
    socket.socket.terminate()
  })

  it("suggests no names, neither of fields nor of the values of variables", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const wrong: [string, object?][] = [
      ["{ chatFolder { id } }"],
      ["{ chatFolders { nam } }"],
      ["mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { id } }", { input: { name: "A", colo: "#fff" } }],
      ["query ($messenger: Messenger) { chats(messenger: $messenger) { totalCount } }", { messenger: "TELEGRAM_BO" }],
    ]
    for (const [query, variables = {}] of wrong) {
      const shown = await supertest(open.url).post("/graphql").set("X-Access-Token", acme.token).send({ query, variables })
      expect(everywhere(shown.body)).toMatch(/Did you mean/)
      const { errors } = await gql(acme.token, query, variables as Record<string, unknown>)
      const [, ...suggested] = everywhere(shown.body).match(/Did you mean (.+)\?/)!
      expect(everywhere({ errors: errors! })).not.toMatch(/Did you mean/)
      expect(everywhere({ errors: errors! })).not.toContain(suggested[0])
      expect(errors!.map(({ extensions }) => extensions.code)).toEqual(
        shown.body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code),
      )
      expect(JSON.stringify(await socket.ask(query, variables as Record<string, unknown>))).not.toMatch(/Did you mean/)
    }
    const subscription = "subscription ($types: [EventType!]) { events(types: $types) { id } }"
    const [heard] = await socket.ask(subscription, { types: ["CHAT_CREATE"] })
    expect(JSON.stringify(heard)).toMatch(/does not exist in/)
    expect(JSON.stringify(heard)).not.toMatch(/Did you mean/)
    socket.socket.terminate()
  })

  it("answers a long value that repeats the words of a suggestion at once", async () => {
    const query = "query ($messenger: Messenger) { chats(messenger: $messenger) { totalCount } }"
    await pace("a long value that repeats a suggestion is answered", 500, "ms", () =>
      duration(async () => {
        const { errors } = await gql(acme.token, query, { messenger: " Did you mean ".repeat(50_000) })
        expect(errors![0]!.extensions.statusCode).toBe(400)
      }),
    )
  })

  it("has no document of the schema, and the start page does not link to one", async () => {
    await supertest(open.url).get("/graphql/schema.graphql").expect(200)
    await rest.anonymous.get("/graphql/schema.graphql").expect(404)
    const page = await supertest(w.url).get("/").set("Accept", "text/html").expect(200)
    expect(page.text).not.toContain("schema.graphql")
    await supertest(w.url).get("/api/openapi.json").expect(200)
  })

  it("runs operations as before", async () => {
    const query = "{ __typename chatFolders { __typename id } }"
    for (const _twice of [1, 2]) expect((await gql(acme.token, query)).data).toEqual({ __typename: "Query", chatFolders: [] })
    await rest.as(acme.token).get("/api/chats").expect(200)
  })
})
