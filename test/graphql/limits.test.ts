import fc from "fast-check"
import { getIntrospectionQuery } from "graphql"
import { v7 } from "uuid"
import { rawSocket } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, gql } = w

/** Fragments that each spread the next one several times, so that fields appear `wide` to the power of `levels` times. */
const chained = (levels: number, wide: number) =>
  Array.from({ length: levels }, (_, level) => `fragment A${level} on Me { ${`...A${level + 1} `.repeat(wide)} }`).join(" ") +
  ` fragment A${levels} on Me { id }`

/** Fragments that each spread the next one, the last one the first. */
const circle = (length: number, type: string) =>
  Array.from({ length }, (_, index) => `fragment A${index} on ${type} { ...A${(index + 1) % length} }`).join(" ")

describe("limits, before anything runs", () => {
  const many = (count: number, field: string) => Array.from({ length: count }, (_, index) => `f${index}: ${field}`).join(" ")
  const deep = (levels: number) =>
    `{ chat(id: "${v7()}") { ${"lastMessage { chat { ".repeat((levels - 2) / 2)} id ${"} }".repeat((levels - 2) / 2)} } }`
  const page = "chats(first: 100) { nodes { tags { id } also: tags { id } } }"

  it.each([
    ["tokens", `{ chatFolders { ${many(1_660, "id")} } }`, `{ chatFolders { ${many(1_670, "id")} } }`],
    ["depth", deep(12), deep(14)],
    [
      "depth in fragments",
      `${deep(12)}`,
      `query { chat(id: "${v7()}") { ...A } } fragment A on Chat { lastMessage { chat { ...B } } } fragment B on Chat ${deep(12).slice(deep(12).indexOf("lastM") - 2, -2)}`,
    ],
    ["root fields", `{ ${many(30, "chatFolders { id }")} }`, `{ ${many(31, "chatFolders { id }")} }`],
    [
      "root fields in fragments",
      `{ ...A ...A } fragment A on Query { ${many(15, "chatFolders { id }")} }`,
      `{ ...A ...A } fragment A on Query { ${many(16, "chatFolders { id }")} }`,
    ],
    ["cost", `{ ${many(9, page)} }`, `{ ${many(10, page)} }`],
    [
      "cost that a negative size would pay for",
      `{ ${many(9, page)} }`,
      `{ ${many(10, page)} less: chats(first: -100) { nodes { tags { id } } } }`,
    ],
    [
      "values",
      `{ chats(first: 100) { nodes { messages(first: 100) { nodes { ${many(100, "id")} } } } } }`,
      `{ chats(first: 100) { nodes { messages(first: 100) { nodes { ${many(101, "id")} } } } } }`,
    ],
  ])("%s", async (_name, allowed, beyond) => {
    const passed = await gql(acme.token, allowed)
    expect(passed.errors?.filter(({ extensions }) => extensions.code !== "NOT_FOUND") ?? []).toEqual([])
    const { data, errors } = await gql(acme.token, beyond)
    expect({ data, errors }).toMatchObject({ data: undefined, errors: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400 } }] })
    expect(errors![0]!.message).toMatch(/more than [\d,]+/)
  })

  describe("introspection, which needs no credentials", () => {
    const aliases = many(1_500, "description")

    it("may be asked for as tools do", async () => {
      const all = getIntrospectionQuery({
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
      })
      expect((await gql(null, all)).errors).toBeUndefined()
      const types = Array.from({ length: 30 }, (_, index) => `t${index}: __type(name: "Query") { ...Type }`).join(" ")
      const fragment =
        "fragment Type on __Type { name description fields { name description args { name type { name } } type { name kind } } }"
      expect((await gql(null, `{ ${types} } ${fragment}`)).errors).toBeUndefined()
    })

    // The responses would be of 500 MB and more, which ended the process.
    it.each([
      ["all types", `{ ${many(30, "__schema { types { ...Names } }")} } fragment Names on __Type { ${aliases} }`],
      ["a root type", `{ ${many(30, '__type(name: "Query") { fields { ...Names } }')} } fragment Names on __Field { ${aliases} }`],
      [
        "a root type of the schema",
        `{ ${many(30, "__schema { queryType { fields { ...Names } } }")} } fragment Names on __Field { ${aliases} }`,
      ],
    ])("is refused many names of the descriptions of %s", async (_what, query) => {
      const { data, errors } = await gql(null, query)
      expect({ data, errors }).toMatchObject({ data: undefined, errors: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400 } }] })
      expect(errors![0]!.message).toMatch(/could return \d+ values, more than 1000000/)
    })
  })

  const nested: [string, string][] = [
    ["lists", `{ chats(where: ${"[".repeat(2_400)}1${"]".repeat(2_400)}) { nodes { id } } }`],
    ["input objects", `{ chats(where: ${"{a:".repeat(1_600)}1${"}".repeat(1_600)}) { nodes { id } } }`],
    ["types", `query ($a: ${"[".repeat(2_400)}Int${"]".repeat(2_400)}) { chatFolders { id } }`],
    ["inline fragments", `{ chatFolders { ${"... { ".repeat(1_600)} id ${"}".repeat(1_600)} } }`],
    ["fields", `{ ${"a { ".repeat(1_600)} id ${"}".repeat(1_600)} }`],
    ["a circle of 200 fragments", `{ chatFolders { ...A0 } } ${circle(200, "ChatFolder")}`],
    ["a circle of 600 fragments", `{ ...A0 } ${circle(600, "Query")}`],
    ["a circle of fragments that is not used", `{ chatFolders { id } } ${circle(600, "ChatFolder")}`],
  ]
  it.each(nested)("%s, however deep, are 400 over HTTP and sockets, with and without credentials", async (_name, query) => {
    for (const credential of [acme.token, null]) {
      const { data, errors } = await gql(credential, query)
      expect([data, errors![0]!.extensions.statusCode]).toEqual([undefined, 400])
      expect(errors![0]!.message).not.toContain("call stack")
    }
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const [answer] = await socket.ask(query)
    expect([answer.type, answer.payload[0].extensions.statusCode]).toEqual(["error", 400])
    socket.socket.terminate()
  })

  const dense = Array.from({ length: 200 }, (_, index) => {
    const spreads = Array.from({ length: 7 }, (_, next) => `...F${(index + 1 + next) % 200}`).join(" ")
    return `fragment F${index} on Query { ${spreads} }`
  }).join(" ")
  const circles: [string, string, RegExp][] = [
    ["200 fragments, each with seven spreads", `{ ...F0 } ${dense}`, /"F0" .* via "F1", "F2"/],
    ["the same, which no operation spreads", `{ chatFolders { id } } ${dense}`, /"F0" .* via "F1", "F2"/],
    ["fragment in itself", "{ ...A } fragment A on Query { chatFolders { id } ... { ...A } }", /spread fragment "A" .*itself\.$/],
    ["fragments inside fields", "{ me { ...A } } fragment A on Me { id ...B } fragment B on Me { ...A }", /"A" .* via "B"\.$/],
  ]
  it.each(circles)("a circle of %s is not valid, over HTTP and sockets", async (_name, query, message) => {
    const accept = "application/graphql-response+json"
    const headers = { accept, "content-type": "application/json", "x-access-token": acme.token }
    const response = await fetch(`${w.url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) })
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const [answer] = await socket.ask(query)
    socket.socket.terminate()
    expect([response.status, answer.type]).toEqual([400, "error"])
    for (const [error] of [((await response.json()) as { errors: unknown[] }).errors, answer.payload])
      expect(error).toMatchObject({
        message: expect.stringMatching(message),
        extensions: { code: "GRAPHQL_VALIDATION_FAILED", statusCode: 400 },
      })
  })

  it("a selection for a webhook that nests too deeply, or whose fragments are a circle, is refused with its reason", async () => {
    for (const [query, reason] of [
      [`{ message ${"{ chat".repeat(1_200)}${"}".repeat(1_200)} }`, /nests/],
      [`{ message { ...A } } fragment A on Message { id ...A }`, /spread fragment "A"/],
    ] as const) {
      const { body } = await w.rest
        .as(acme.token)
        .post("/api/event-webhooks", { url: "https://example.com/", types: ["MESSAGE_CREATED"], query })
        .expect(400)
      expect(body).toMatchObject({ code: "BAD_USER_INPUT", message: expect.stringMatching(reason) })
    }
  })

  it("a long chain of fragments is valid", async () => {
    const chain = Array.from({ length: 400 }, (_, index) => `fragment A${index} on ChatFolder { ...A${index + 1} }`).join(" ")
    const { errors } = await gql(acme.token, `{ chatFolders { ...A0 } } ${chain} fragment A400 on ChatFolder { id }`)
    expect(errors).toBeUndefined()
  })

  it("compute the cost from the variables of each request", async () => {
    const query = `query ($first: Int) { ${many(10, page.replace("100", "$first"))} }`
    for (const [first, isRefused] of [
      [10, false],
      [100, true],
      [10, false],
    ] as const) {
      const { errors } = await gql(acme.token, query, { first })
      expect(errors?.[0]?.extensions.code).toBe(isRefused ? "BAD_USER_INPUT" : undefined)
    }
    expect((await gql(acme.token, query.replace("Int", "Int = 100"))).errors).toHaveLength(1)
  })

  const costly = `{ ${many(10, page)} ID }`
  const hides: [string, string, object?][] = [
    ["behind many fragments", `query ${costly.replace("ID", "me { ...A0 }")} ${chained(4, 11)}`],
    ["behind an argument that fails", `query ($id: UUID = "${v7()}") ${costly.replace("ID", "chat(id: $id) { id }")}`, { id: null }],
    ["behind a condition that fails", `query ($x: Boolean = true) ${costly.replace("ID", "me { id @include(if: $x) }")}`, { x: null }],
    ["behind a size that is null", `query ($first: Int = 100) { ${many(10, page.replace("100", "$first"))} }`],
  ]
  it.each(hides)("a cost does not hide %s", async (_name, query, variables = {}) => {
    // With the size of another alias the cost would be below the limit.
    if (query.includes("$first")) expect((await gql(acme.token, query, { first: null })).errors).toBeUndefined()
    const { data, errors } = await gql(acme.token, query, variables as Record<string, unknown>)
    expect({ data, errors }).toMatchObject({ data: undefined, errors: [{ message: expect.stringContaining("could return") }] })
  })

  it("are checked before validation", async () => {
    const invalid = [deep(14).replace(" id ", " nothing "), `{ ${many(31, "nothing { id }")} }`, `{ ${many(10, page)} nothing }`]
    for (const query of [...invalid, ...invalid]) {
      const { data, errors } = await gql(acme.token, query)
      expect({ data, errors }).toMatchObject({ data: undefined, errors: [{ extensions: { code: "BAD_USER_INPUT" } }] })
    }
    for (const query of [
      "{ ...A } fragment A on Query { me { id } ...A }",
      "{ ...Unknown nothing }",
      "{ me { ...B } } fragment B on Nothing { id }",
    ])
      expect((await gql(acme.token, query)).errors![0]!.extensions.code).toBe("GRAPHQL_VALIDATION_FAILED")
  })

  it("a refused mutation changes nothing", async () => {
    const before = (await gql(acme.token, "{ chatFolders { id } }")).data
    const { data, errors } = await gql(acme.token, `mutation { ${many(31, 'createChatFolder(input: { name: "x" }) { id }')} }`)
    expect([data, errors!.length]).toEqual([undefined, 1])
    expect((await gql(acme.token, "{ chatFolders { id } }")).data).toEqual(before)
  })
})

describe("any operation", () => {
  const operations = [
    "query ($id: UUID!) { chat(id: $id) { id } }",
    "query ($id: UUID!, $first: Int, $after: String, $skip: Int) { messages(chatId: $id, first: $first, after: $after, skip: $skip) { nodes { id } } }",
    "query ($first: Int, $after: String, $managerId: String, $sortOrder: SortOrder) { chats(first: $first, after: $after, managerId: $managerId, sortOrder: $sortOrder) { nodes { id } } }",
    "query ($q: String, $skip: Int, $take: Int) { assistants(q: $q, skip: $skip, take: $take) { nodes { id } } }",
    "mutation ($input: CreateChatInput!) { createChat(input: $input) { id } }",
    "mutation ($input: CreateMessageInput!) { createMessage(input: $input) { id } }",
    "mutation ($input: CreateKnowledgeItemInput!) { createKnowledgeItem(input: $input) { id } }",
    "mutation ($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }",
    "mutation ($email: String, $password: String) { signIn(email: $email, password: $password) { accessToken } }",
  ]
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.uuid(),
    fc.base64String(),
    fc.constantFrom("", "null", "me", "TEXT", "PLAYGROUND"),
  )
  const json = fc.oneof(text, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }))
  const input = fc.dictionary(
    fc.constantFrom("name", "text", "kind", "chatId", "role", "assistantId", "messenger", "fromId", "temperature"),
    json,
  )

  it.each(operations)("%s never gives a 5xx", async (query) => {
    const names = [...query.matchAll(/\$(\w+): /g)].map(([, name]) => name!)
    const variables = fc.record(Object.fromEntries(names.map((name) => [name, name === "input" ? fc.oneof(input, json) : json])))
    await fc.assert(
      fc.asyncProperty(variables, async (values) => {
        const { status, errors } = await gql(acme.token, query, values)
        expect(status).toBeLessThan(500)
        for (const { extensions } of errors ?? []) expect(extensions.statusCode).toBeLessThan(500)
      }),
      { numRuns: 60 },
    )
  })
})
