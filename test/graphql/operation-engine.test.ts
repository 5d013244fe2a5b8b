import { ApolloServer } from "@apollo/server"
import { buildSchema, type ExecutionResult, type GraphQLSchema } from "graphql"
import { v7 } from "uuid"
import { NotFound } from "../../src/errors/errors.js"
import { OperationEngine, operationCache, type StartedSubscription } from "../../src/graphql/engine.js"
import { graphqlLimits } from "../../src/graphql/limits.js"
import { promised } from "../kit/promise.js"
import { rawSocket, subscribe } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex } = w

const types = ["application/graphql-response+json", "application/json", "*/*"]

/** The whole response to a request, without values that differ each time. */
async function ask(body: unknown, accept: string, headers: Record<string, string> = { "x-access-token": acme.token }) {
  const answer = await fetch(`${w.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept, ...headers },
    body: JSON.stringify(body),
  })
  const text = (await answer.text()).trim().replace(/"requestId":"[^"]*"/g, '"requestId":"…"')
  return { status: answer.status, type: answer.headers.get("content-type"), text }
}

/** The result of a call, and how many requests used Apollo meanwhile. */
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

/** An operation, the variables that prepare it, and those of the later requests. */
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

describe.each(types)("a prepared operation, answered as %s", (accept) => {
  it.each(cases)("%s: the same as the first time", async (name, operation, good, asked) => {
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

promised("runs with the caller's identity: another company gets its own rows", async () => {
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

it("makes its change once per request", async () => {
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

it("runs no code from a text of a client", async () => {
  const code = "__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d0)},__x={q:(globalThis.injected=true"
  const { text } = await ask({ query: `{ assistants(q: ${JSON.stringify(code)}) { totalCount } }` }, "*/*")
  expect(JSON.parse(text)).toEqual({ data: { assistants: { totalCount: 0 } } })
  expect(globalThis).not.toHaveProperty("injected")
})

it("runs the operations of every transport", async () => {
  const run = jest.spyOn(OperationEngine.prototype, "run")
  const begun = jest.spyOn(OperationEngine.prototype, "subscribe")
  try {
    await ask({ query: "{ chatFolders { id } }" }, "*/*")
    await w.rest.as(acme.token).get("/api/chat-folders").expect(200)
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    await socket.ask("{ chatFolders { id } }")
    socket.socket.terminate()
    const heard = await subscribe(w, acme.token)
    await acme.chat()
    await heard.next()
    await heard.stop()
    const transports = run.mock.calls.map(([{ operation }, , , transport]) => `${operation.operation} over ${transport}`)
    expect(transports.slice(0, 3)).toEqual(["query over http", "query over rest", "query over graphql-ws"])
    expect(begun.mock.calls.map(([, , , transport]) => transport)).toEqual(["graphql-ws"])
  } finally {
    run.mockRestore()
    begun.mockRestore()
  }
})

describe("the engine itself", () => {
  const makeSchema = (answer: () => unknown) => {
    const schema = buildSchema("type Query { at: String soon: String fails: String } type Subscription { at: String fails: String }")
    const { at, soon, fails } = schema.getQueryType()!.getFields()
    at!.resolve = answer
    soon!.resolve = async () => answer()
    fails!.resolve = () => Promise.reject(new NotFound("Chat"))
    Object.assign(schema.getSubscriptionType()!.getFields()["at"]!, {
      subscribe: async function* () {
        yield* ["one", "two"]
      },
      resolve: (event: string) => event,
    })
    return schema
  }

  it("keeps one prepared operation per schema, text and name", () => {
    const engine = new OperationEngine()
    const [one, other] = [makeSchema(() => "one"), makeSchema(() => "other")]
    const query = "query A { at } query B { at }"
    const prepare = (schema: GraphQLSchema, operationName: string) => engine.prepareForClient(schema, { query, operationName }, "acme")
    const prepared = prepare(one, "A")
    expect(prepare(one, "A")).toBe(prepared)
    expect(prepare(one, "B")).not.toBe(prepared)
    expect(engine.find(other, { query, operationName: "A" })).toBeUndefined()
    expect(prepare(other, "A").run({}, {})).toEqual({ data: { at: "other" } })
    expect(prepared.run({}, {})).toEqual({ data: { at: "one" } })
    expect(() => engine.prepareForClient(one, { query: "{ nothing }" }, "acme")).toThrow('Cannot query field "nothing"')
    expect(engine.find(one, { query: "{ nothing }" })).toBeUndefined()
  })

  it("returns a synchronous result for synchronous resolvers", async () => {
    const engine = new OperationEngine()
    const schema = makeSchema(() => "now")
    expect(engine.run(engine.prepare(schema, { query: "{ at }" }), {}, {}, "rest")).toEqual({ data: { at: "now" } })
    const later = engine.run(engine.prepare(schema, { query: "{ soon }" }), {}, {}, "rest")
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toEqual({ data: { soon: "now" } })
  })

  it("compiles an operation of a client when it is repeated", () => {
    const prepared = new OperationEngine().prepareForClient(buildSchema("type Query { at: String }"), { query: "{ at }" }, "acme")
    // Only graphql-js calls a property that is a function.
    const at = () => "by graphql-js"
    const runs = Array.from({ length: graphqlLimits.interpretedRuns + 1 }, () => prepared.run({}, {}, { at }) as ExecutionResult)
    const compiled = runs.pop()!
    expect(runs).toEqual(runs.map(() => ({ data: { at: "by graphql-js" } })))
    expect(compiled.data).not.toEqual({ at: "by graphql-js" })
  })

  it("keeps the operations of a company while another sends new ones without end", () => {
    const engine = new OperationEngine(undefined, false, null, operationCache())
    const schema = makeSchema(() => "")
    const query = (name: string, length = 0) => ({ query: `#${"x".repeat(length)}\n{ ${name}: at }` })
    engine.prepareForClient(schema, query("theirs"), "globex")
    const long = 10_000
    const most = Math.ceil(graphqlLimits.preparedBytes / (long * graphqlLimits.parsedCharacterBytes))
    for (let index = 0; index < 2 * most; index++) engine.prepareForClient(schema, query(`a${index}`, long), "acme")
    expect(engine.find(schema, query("theirs"))).toBeDefined()
    expect(engine.find(schema, query("a0", long))).toBeUndefined()
    expect(engine.find(schema, query(`a${2 * most - 1}`, long))).toBeDefined()
  })

  it("counts the code of an operation that it has compiled", () => {
    const engine = new OperationEngine(undefined, false, null, operationCache())
    const schema = buildSchema("type Query { at: String }")
    const query = (index: number) => ({ query: `{ a${index}: at }` })
    const kept = () => Array.from({ length: most }, (_, index) => engine.find(schema, query(index))).filter(Boolean).length
    const most = Math.floor(graphqlLimits.preparedBytes / (graphqlLimits.parsedBytes + 20 * graphqlLimits.parsedCharacterBytes))
    const all = Array.from({ length: most }, (_, index) => engine.prepareForClient(schema, query(index), "acme"))
    expect(kept()).toBe(most)
    for (const { run } of all) for (let runs = 0; runs <= graphqlLimits.interpretedRuns; runs++) run({}, {}, { at: "now" })
    expect(kept()).toBeGreaterThan(0)
    expect(kept()).toBeLessThan(most / 3)
  })

  it("reports each operation to an observer, with duration and outcome", async () => {
    const around: unknown[] = []
    const ended: unknown[] = []
    const engine = new OperationEngine({
      around(operation, run) {
        around.push(operation)
        return run()
      },
      ended: (operation, outcome, milliseconds) => ended.push([operation.name, operation.field, outcome, milliseconds >= 0]),
    })
    const schema = makeSchema(() => "now")
    const run = (query: string, variables = {}) => engine.run(engine.prepare(schema, { query }), {}, variables, "http")
    await run("query Named { at }")
    await run("{ soon fails }")
    await expect(run("query ($x: Boolean!) { at @skip(if: $x) }", { x: "\u0000" })).rejects.toThrow("NUL")
    const prepared = engine.prepare(schema, { query: "subscription { at }" })
    const { events, run: runFor } = (await engine.subscribe(prepared, {}, {}, "graphql-ws")) as StartedSubscription
    const told = [await events.next(), await events.next()]
    expect(await Promise.all(told.map(({ value }) => runFor(value)))).toMatchObject([{ data: { at: "one" } }, { data: { at: "two" } }])
    expect(await events.next()).toMatchObject({ done: true })
    expect(around).toEqual([
      { transport: "http", kind: "query", field: "at", name: "Named" },
      { transport: "http", kind: "query", field: "soon", name: null },
      { transport: "http", kind: "query", field: "at", name: null },
      { transport: "graphql-ws", kind: "subscription", field: "at", name: null },
    ])
    expect(ended).toEqual([
      ["Named", "at", "OK", true],
      [null, "soon", "NOT_FOUND", true],
      [null, "at", "BAD_USER_INPUT", true],
      [null, "at", "OK", true],
    ])
  })
})
