import { v7 } from "uuid"
import { KnownOperations } from "../src/graphql/known-operations.js"
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

/** What something came to, and how many requests were answered without Apollo meanwhile. */
async function watching<T>(work: () => Promise<T>): Promise<{ known: number; result: T }> {
  const { answer } = KnownOperations.prototype
  let known = 0
  KnownOperations.prototype.answer = async function (...given) {
    const found = await answer.apply(this, given)
    if (found) known += 1
    return found
  }
  const result = await work().finally(() => {
    KnownOperations.prototype.answer = answer
  })
  return { known, result }
}

const page = "chats(first: $first) { nodes { tags { id } also: tags { id } } }"
const pages = Array.from({ length: 10 }, (_, index) => `f${index}: ${page}`).join(" ")

/** An operation, variables with which it is found good, and what it is then asked with; whether that is answered without Apollo. */
const cases: [string, { query: string; operationName?: string }, object, object, boolean][] = [
  ["the same again", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 1 }, true],
  ["another page", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 2 }, true],
  ["a page that is refused", { query: "query ($first: Int) { chats(first: $first) { nodes { id } } }" }, { first: 1 }, { first: 0 }, true],
  ["a variable of another type", { query: "query ($id: UUID!) { chat(id: $id) { id } }" }, { id: v7() }, { id: 5 }, true],
  ["a variable that is missing", { query: "query ($id: UUID!) { chat(id: $id) { id } }" }, { id: v7() }, {}, true],
  ["what is not there", { query: "query ($id: UUID!) { chat(id: $id) { id } chatFolders { id } }" }, { id: v7() }, { id: v7() }, true],
  ["NUL", { query: "query ($q: String) { assistants(q: $q) { totalCount } }" }, { q: "a" }, { q: "a\u0000" }, false],
  ["a page that costs too much", { query: `query ($first: Int) { ${pages} }` }, { first: 1 }, { first: 100 }, false],
  ["one of two operations", { query: "query A { me { id } } query B { chatFolders { id } }", operationName: "B" }, {}, {}, true],
]

describe.each(types)("an operation that is known, answered as %s", (accept) => {
  it.each(cases)("%s: as when it was new", async (name, operation, good, asked, isKnown) => {
    const known = { ...operation, query: `# known, ${name}, ${accept}\n${operation.query}` }
    const fresh = { ...operation, query: `# fresh, ${name}, ${accept}\n${operation.query}` }
    await ask({ query: "{ __typename }" }, accept)
    await ask({ ...known, variables: good }, accept)
    const again = await watching(() => ask({ ...known, variables: asked }, accept))
    const first = await watching(() => ask({ ...fresh, variables: asked }, accept))
    expect([again.known, first.known]).toEqual([isKnown ? 1 : 0, 0])
    expect(again.result).toEqual(first.result)
  })
})

it("is answered for who asks: another company sees its own", async () => {
  const operation = { query: "query Own { chats(first: 10) { nodes { id } } }" }
  const { id } = await acme.chat()
  const theirs = await globex.chat()
  await ask(operation, "*/*")
  const { known } = await watching(async () => {
    expect((await ask(operation, "*/*")).text).toContain(id)
    const other = await ask(operation, "*/*", { "x-access-token": globex.token })
    expect(other.text).toContain(theirs.id)
    expect(other.text).not.toContain(id)
    expect((await ask(operation, "*/*", {})).text).toContain("UNAUTHENTICATED")
  })
  expect(known).toBe(3)
})

it("changes what it is to change, each time once", async () => {
  const operation = { query: "mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { name } }" }
  await ask({ ...operation, variables: { input: { name: "first" } } }, "*/*")
  const second = { ...operation, variables: { input: { name: "second" } } }
  expect(await watching(() => ask(second, "*/*"))).toMatchObject({ known: 1, result: { text: expect.stringContaining("second") } })
  const { text } = await ask({ query: "{ chatFolders { name } }" }, "*/*")
  expect(JSON.parse(text).data.chatFolders).toEqual([{ name: "first" }, { name: "second" }])
})

it("with a variable inside a JSON value is refused, since its value would be left out", async () => {
  const id = acme.assistant.id
  const query = `mutation ($id: UUID!, $x: String) { createAssistantTool(input: { assistantId: $id, name: "t", description: "d",
    apiCallUrl: "https://tools.example/t", params: { type: "object", title: $x } }) { id } }`
  const { text } = await ask({ query, variables: { id, x: "y" } }, "*/*")
  expect(JSON.parse(text)).toMatchObject({
    errors: [{ message: expect.stringContaining("$x stands inside a JSON value"), extensions: { statusCode: 400 } }],
  })
})
