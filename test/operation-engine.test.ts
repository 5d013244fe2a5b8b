import { ApolloServer } from "@apollo/server"
import { v7 } from "uuid"
import { world } from "./kit/world.js"

const w = world()
const { acme, globex } = w

const types = ["application/graphql-response+json", "application/json", "*/*"]

/** The whole answer to a request, without what is another one each time. */
async function ask(body: unknown, accept: string, headers: Record<string, string> = { "x-access-token": acme.token }) {
  const answer = await fetch(`${w.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept, ...headers },
    body: JSON.stringify(body),
  })
  const text = (await answer.text()).trim().replace(/"requestId":"[^"]*"/g, '"requestId":"…"')
  return { status: answer.status, type: answer.headers.get("content-type"), text }
}

/** What something came to, and how many requests went through Apollo meanwhile. */
async function watching<T>(work: () => Promise<T>): Promise<{ throughApollo: number; result: T }> {
  const watched = jest.spyOn(ApolloServer.prototype, "executeHTTPGraphQLRequest")
  try {
    const result = await work()
    return { throughApollo: watched.mock.calls.length, result }
  } finally {
    watched.mockRestore()
  }
}

const page = "chats(first: $first) { nodes { tags { id } also: tags { id } } }"
const pages = Array.from({ length: 10 }, (_, index) => `f${index}: ${page}`).join(" ")

/** An operation, variables with which it is prepared, and those that it is then asked with. */
const cases: [string, { query: string; operationName?: string }, object, object][] = [
  ["the same again", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 1 }],
  ["another page", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 2 }],
  ["a page that is refused", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 0 }],
  ["a variable of another type", { query: "query ($id: UUID!) { chat(id: $id) { id } }" }, { id: v7() }, { id: 5 }],
  ["a variable that is missing", { query: "query ($id: UUID!) { chat(id: $id) { id } }" }, { id: v7() }, {}],
  ["what is not there", { query: "query ($id: UUID!) { chat(id: $id) { id } chatFolders { id } }" }, { id: v7() }, { id: v7() }],
  ["NUL", { query: "query ($q: String) { assistants(q: $q) { totalCount } }" }, { q: "a" }, { q: "a\u0000" }],
  ["a page that costs too much", { query: `query ($first: Int) { ${pages} }` }, { first: 1 }, { first: 100 }],
  ["one of two operations", { query: "query A { me { id } } query B { chatFolders { id } }", operationName: "B" }, {}, {}],
]

describe.each(types)("an operation that is prepared, answered as %s", (accept) => {
  it.each(cases)("%s: as when it was new", async (name, operation, good, asked) => {
    const prepared = { ...operation, query: `# prepared, ${name}, ${accept}\n${operation.query}` }
    const fresh = { ...operation, query: `# fresh, ${name}, ${accept}\n${operation.query}` }
    await ask({ query: "{ __typename }" }, accept)
    await ask({ ...prepared, variables: good }, accept)
    const again = await watching(() => ask({ ...prepared, variables: asked }, accept))
    const first = await watching(() => ask({ ...fresh, variables: asked }, accept))
    expect([again.throughApollo, first.throughApollo]).toEqual([0, 1])
    expect(again.result).toEqual(first.result)
  })
})

it("is answered for who asks: another company sees its own", async () => {
  const operation = { query: "query Own { chats(first: 10) { nodes { id } } }" }
  const { id } = await acme.chat()
  const theirs = await globex.chat()
  await ask(operation, "*/*")
  const { throughApollo } = await watching(async () => {
    expect((await ask(operation, "*/*")).text).toContain(id)
    const other = await ask(operation, "*/*", { "x-access-token": globex.token })
    expect(other.text).toContain(theirs.id)
    expect(other.text).not.toContain(id)
    expect((await ask(operation, "*/*", {})).text).toContain("UNAUTHENTICATED")
  })
  expect(throughApollo).toBe(0)
})

it("changes what it is to change, each time once", async () => {
  const operation = { query: "mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { name } }" }
  await ask({ ...operation, variables: { input: { name: "first" } } }, "*/*")
  const second = { ...operation, variables: { input: { name: "second" } } }
  expect(await watching(() => ask(second, "*/*"))).toMatchObject({ throughApollo: 0, result: { text: expect.stringContaining("second") } })
  const { text } = await ask({ query: "{ chatFolders { name } }" }, "*/*")
  expect(JSON.parse(text).data.chatFolders).toEqual([{ name: "first" }, { name: "second" }])
})

it("may have a variable inside a JSON value", async () => {
  const query = `mutation ($id: UUID!, $x: String, $list: [Int!]) { createAssistantTool(input: { assistantId: $id, name: "t", description: "d",
    apiCallUrl: "https://tools.example/t", params: { type: "object", title: $x, properties: { n: { enum: $list } } } }) { params } }`
  for (const title of ["y", "z"]) {
    const { text } = await ask({ query, variables: { id: (await acme.makeAssistant()).id, x: title, list: [1, 2] } }, "*/*")
    expect(JSON.parse(text)).toEqual({
      data: { createAssistantTool: { params: { type: "object", title, properties: { n: { enum: [1, 2] } } } } },
    })
  }
})
