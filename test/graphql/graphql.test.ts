import {
  buildClientSchema,
  buildSchema,
  findBreakingChanges,
  type GraphQLInputType,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
} from "graphql"
import { auditServer } from "graphql-http"
import { v7 } from "uuid"
import { type Credential, headersOf } from "../kit/clients.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql } = w
const responseJson = "application/graphql-response+json"

interface Ask {
  method?: string
  path?: string
  as?: Credential
  accept?: string
  headers?: Record<string, string>
}

/** Sends a raw request; the response must be JSON in GraphQL's shape. */
async function ask(body: unknown, { method = "POST", path = "/graphql", as = acme.token, accept = responseJson, headers }: Ask = {}) {
  const answer = await fetch(`${w.url}${path}`, {
    method,
    headers: { "content-type": "application/json", accept, ...headersOf(as), ...headers },
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
  const { data, errors } = (await answer.json()) as any
  return { status: answer.status, headers: answer.headers, type: answer.headers.get("content-type"), data, errors }
}

/** The expected first error. */
const refused = (statusCode: number, code = "BAD_USER_INPUT") => ({
  code,
  statusCode,
  details: expect.any(Array),
  requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
})

describe("GraphQL over HTTP", () => {
  /** The audits that the specification leaves open, with reasons. */
  const leftOpen: Record<string, string> = {
    "MAY use 400 status code on number {query} parameter": "0 counts as no query: 200 with errors, as all of application/json",
    "MAY use 400 status code on boolean {query} parameter": "false counts as no query: 200 with errors, as all of application/json",
    "MAY use 4xx or 5xx status codes if parameters are invalid": "application/json is answered 200, with the status in extensions",
    "MAY use 400 status code if parameters are invalid": "application/json is answered 200, with the status in extensions",
  }

  it("passes every MUST and SHOULD of the audit suite", async () => {
    const results = await auditServer({ url: `${w.url}/graphql` })
    expect(results.length).toBeGreaterThan(60)
    expect(results.filter(({ status }) => status !== "ok").map(({ name }) => name)).toEqual(Object.keys(leftOpen))
  })

  it("takes queries by GET, and no mutations", async () => {
    const query = encodeURIComponent("query ($id: UUID!) { chat(id: $id) { id } }")
    const { id } = await acme.chat()
    const path = `/graphql?query=${query}&variables=${encodeURIComponent(JSON.stringify({ id }))}`
    expect(await ask(undefined, { method: "GET", path })).toMatchObject({ status: 200, data: { chat: { id } } })
    for (const accept of [responseJson, "application/json"]) {
      const answer = await ask(undefined, { method: "GET", path: "/graphql?query=mutation{signOut}", as: acme.owner.jwt, accept })
      expect(answer).toMatchObject({ status: 405, errors: [{ extensions: refused(405, "METHOD_NOT_ALLOWED") }] })
      expect(answer.headers.get("allow")).toBe("POST")
    }
    expect((await gql(acme.owner.jwt, "{ me { id } }")).data.me.id).toBe(acme.owner.id)
  })

  it("has the status of its media type: 4xx or 200 for a request that could not run, 200 for one that ran", async () => {
    const bad = { query: "{ nothing }" }
    expect(await ask(bad)).toMatchObject({ status: 400, type: `${responseJson}; charset=utf-8`, data: undefined })
    expect(await ask(bad, { accept: "application/json" })).toMatchObject({
      status: 200,
      type: "application/json; charset=utf-8",
      data: undefined,
    })
    const partly = { query: `{ chat(id: "${v7()}") { id } chatFolders { id } }` }
    expect(await ask(partly)).toMatchObject({ status: 200, data: { chat: null, chatFolders: [] }, errors: [{ path: ["chat"] }] })
  })

  const bodies: [string, unknown, Ask, number, string?][] = [
    ["a batch", [{ query: "{ __typename }" }], {}, 400],
    ["malformed JSON", '{ "query": ', {}, 400],
    ["an empty body", "", {}, 400],
    ["no query", { variables: {} }, {}, 400],
    ["another content type", "{ __typename }", { headers: { "content-type": "text/plain" } }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "a form",
      "query=%7B__typename%7D",
      { headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["more than 1 MB", { query: "{ __typename }", padding: "x".repeat(1024 * 1024) }, {}, 413, "PAYLOAD_TOO_LARGE"],
    ["NUL in a variable", { query: "query ($q: String) { assistants(q: $q) { totalCount } }", variables: { q: "a\u0000" } }, {}, 400],
    ["NUL in a literal", { query: '{ assistants(q: "a\\u0000") { totalCount } }' }, {}, 400],
    ["a prototype", `{ "query": "{ __typename }", "variables": { "__proto__": { "a": 1 } } }`, {}, 400],
    ["variables as text", { query: "{ __typename }", variables: "{}" }, {}, 400],
    ["variables as a list", { query: "{ __typename }", variables: [] }, {}, 400],
    ["extensions as text", { query: "{ __typename }", extensions: "{}" }, {}, 400],
    ["two operations and no name", { query: "query A { __typename } query B { __typename }" }, {}, 400],
    ["an operation that is not there", { query: "query A { __typename }", operationName: "B" }, {}, 400],
    ["a subscription", { query: "subscription { events { id } }" }, {}, 400],
    ["a syntax error", { query: "{ chat(" }, {}, 400, "GRAPHQL_PARSE_FAILED"],
    ["an unknown field", { query: "{ nothing }" }, {}, 400, "GRAPHQL_VALIDATION_FAILED"],
    [
      "an unknown persisted query",
      { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } },
      {},
      400,
      "PERSISTED_QUERY_NOT_FOUND",
    ],
    ["another method", undefined, { method: "DELETE" }, 405, "METHOD_NOT_ALLOWED"],
  ]

  it.each(bodies)("%s is refused", async (_name, body, how, status, code = "BAD_USER_INPUT") => {
    const answer = await ask(body, how)
    expect(answer).toMatchObject({ status, data: undefined, errors: [{ message: expect.any(String), extensions: refused(status, code) }] })
    expect(answer.headers.get("x-request-id")).toBe(answer.errors[0].extensions.requestId)
  })

  it.each([
    ["of another type", { id: 5 }, "id"],
    ["malformed", { id: "x" }, "id"],
    ["missing", {}, "id"],
  ])("a variable that is %s is refused, and named", async (_name, variables, path) => {
    const { status, errors } = await ask({ query: "query ($id: UUID!) { chat(id: $id) { id } }", variables })
    expect({ status, ...errors[0].extensions }).toMatchObject({ status: 400, code: "BAD_USER_INPUT", details: [{ path }] })
  })

  promised("a missing or foreign id is null with NOT_FOUND", async () => {
    const theirs = await globex.chat()
    for (const field of ["chat", "message", "assistant", "knowledgeItem"]) {
      for (const id of [v7(), theirs.id]) {
        const { data, errors } = await gql(acme.token, `{ ${field}(id: "${id}") { id } }`)
        expect(data).toEqual({ [field]: null })
        expect(errors).toMatchObject([{ path: [field], extensions: refused(404, "NOT_FOUND") }])
      }
    }
  })
})

describe("credentials", () => {
  it("that are bad refuse the whole request: 401, errors and no data", async () => {
    const bad: Credential[] = [
      { "X-Access-Token": "amp_mistyped" },
      { Authorization: "Bearer no.such.jwt" },
      { Authorization: "Basic eDp5" },
    ]
    for (const as of bad) {
      for (const accept of [responseJson, "application/json"]) {
        const answer = await ask({ query: "{ __typename }" }, { as, accept })
        expect(answer).toMatchObject({ status: 401, data: undefined, errors: [{ extensions: refused(401, "UNAUTHENTICATED") }] })
      }
    }
  })

  it("without them, only sign-in, refresh and introspection are allowed", async () => {
    const anonymous = (query: string) => gql(null, query)
    const pair = (await anonymous(`mutation { signIn(email: "${acme.member.email}", password: "correct horse battery") { refreshToken } }`))
      .data.signIn
    const refresh = `mutation { refreshSession(refreshToken: "${pair.refreshToken}") { accessToken } }`
    expect((await anonymous(refresh)).data.refreshSession.accessToken).toBeDefined()
    const schema = buildClientSchema((await anonymous(getIntrospectionQuery())).data)
    const roots = [schema.getQueryType()!, schema.getMutationType()!]
    const fields = roots.flatMap((root) => Object.values(root.getFields()).map((field) => ({ root, field })))
    for (const { root, field } of fields) {
      // A file needs a multipart form: test/media/media.test.ts.
      if (["signIn", "refreshSession", "uploadMedia"].includes(field.name)) continue
      const needed = field.args.filter(isRequiredArgument)
      const declared = needed.map(({ name, type }) => `$${name}: ${type}`).join(", ")
      const given = needed.map(({ name }) => `${name}: $${name}`).join(", ")
      const shown = isLeafType(getNamedType(field.type)) ? "" : "{ __typename }"
      const query = `${root.name.toLowerCase()} ${declared && `(${declared})`} { ${field.name} ${given && `(${given})`} ${shown} }`
      const { data, errors } = await gql(null, query, Object.fromEntries(needed.map(({ name, type }) => [name, sample(type)])))
      expect([field.name, data?.[field.name] ?? null, errors?.[0]?.extensions.code]).toEqual([field.name, null, "UNAUTHENTICATED"])
    }
  })

  /** A value that fits a type, with what it requires and nothing else. */
  const sample = (type: GraphQLInputType): unknown => {
    const inner = getNullableType(type)
    if (isListType(inner)) return []
    if (isEnumType(inner)) return inner.getValues()[0]!.name
    if (isInputObjectType(inner)) {
      const required = Object.values(inner.getFields()).filter(isRequiredInputField)
      return Object.fromEntries(required.map((field) => [field.name, sample(field.type)]))
    }
    const samples = {
      UUID: v7(),
      Boolean: true,
      Int: 1,
      DateTime: "2026-01-31T09:15:00.123Z",
      URL: "https://shop.example/",
      PhoneNumber: "+4915112345678",
    }
    return samples[String(inner) as keyof typeof samples] ?? "x"
  }
})

describe("the schema", () => {
  it("is the same by introspection and as a document", async () => {
    const introspected = buildClientSchema((await gql(null, getIntrospectionQuery())).data)
    const document = buildSchema(await (await fetch(`${w.url}/graphql/schema.graphql`)).text())
    expect(findBreakingChanges(introspected, document)).toEqual([])
    expect(findBreakingChanges(document, introspected)).toEqual([])
    expect(Object.keys(document.getSubscriptionType()!.getFields())).toEqual(["answerProgress", "events"])
  })
})

describe("internal errors", () => {
  it("are 500 without internals, and logged with the request id", async () => {
    const { models } = w.services
    Object.defineProperty(w.services, "models", {
      configurable: true,
      get() {
        throw new Error("select secret from /src/ports")
      },
    })
    const answer = await ask({ query: "{ textModels { id } }" })
    Object.defineProperty(w.services, "models", { configurable: true, writable: true, value: models })
    const { requestId } = answer.errors[0].extensions
    expect(answer.errors).toMatchObject([{ path: ["textModels"], extensions: refused(500, "INTERNAL_SERVER_ERROR") }])
    expect(JSON.stringify(answer)).not.toMatch(/secret|\/src\/|stack/i)
    expect(w.logged).toContainEqual(
      expect.objectContaining({ requestId, level: 50, err: expect.objectContaining({ message: expect.stringContaining("secret") }) }),
    )
    expect((await gql(acme.token, "{ textModels { id } }")).errors).toBeUndefined()
  })
})
