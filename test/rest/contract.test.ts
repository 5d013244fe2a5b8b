import { type GraphQLScalarType, isEnumType, isObjectType, printType } from "graphql"
import { v7 } from "uuid"
import { BadUserInput } from "../../src/errors/errors.js"
import { inRestWords } from "../../src/graphql/schema.js"
import type { Route } from "../../src/rest/kit/routes.js"
import { routeTable } from "../../src/rest/table.js"
import { bothProtocols } from "../kit/both-protocols.js"
import type { Method } from "../kit/clients.js"
import { unsigned } from "../kit/files.js"
import { type ApiClient, protocols } from "../kit/graphql-client.js"
import { bodySchemaOf } from "../kit/openapi.js"
import { platformSchema } from "../kit/platform-schema.js"
import { promised } from "../kit/promise.js"
import {
  addressOf,
  type Belongings,
  belongings,
  bodyFor,
  credentialFor,
  everyRoute,
  everythingOf,
  fullBodies,
  isPublic,
  kindsOf,
  parametersIn,
  queryFor,
} from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest } = w
const both = bothProtocols(w)
let own: Belongings
let foreign: Belongings

beforeAll(async () => {
  own = await belongings(acme)
  foreign = await belongings(globex)
})

const methodOf = (route: Route) => route.method.toLowerCase() as Method
const guarded = everyRoute.filter(([, route]) => !isPublic(route))
const withIds = everyRoute.filter(([, route]) => parametersIn(route.path).length > 0)
const reading = everyRoute.filter(([, route]) => route.method === "GET")

/** Calls a route with the credentials of the company that owns its rows. */
const ask = (route: Route, address: string, credential = credentialFor(route, acme)) =>
  rest
    .as(credential)
    .ask(methodOf(route), address)
    .send(bodyFor(route, own) as object)

/** The same over either protocol. */
const askThrough = (client: ApiClient, route: Route, address: string, things = own, body = bodyFor(route, things)) =>
  client.as(credentialFor(route, things.company))[route.method.toLowerCase() as "post"](address, body)

describe("caches", () => {
  it.each(everyRoute)("%s: no cache may keep the answer or the refusal", async (_name, route) => {
    // The company's own rows are only read, because other tests need them.
    const things = route.method === "GET" ? own : foreign
    const address = addressOf(route, things) + queryFor(route, things)
    for (const credential of [null, credentialFor(route, acme)])
      expect((await ask(route, address, credential)).headers["cache-control"]).toBe("no-store")
  })

  it.each<[string, string, number, RequestInit?]>([
    ["GraphQL's answer", "/graphql?query={__typename}", 200],
    ["a mutation's", "/graphql", 200, { method: "POST", body: '{"query":"mutation { signOut }"}' }],
    ["a refused operation", "/graphql", 200, { method: "POST", body: '{"query":"{"}' }],
    ["a body that cannot be read", "/graphql", 400, { method: "POST", body: "{" }],
    ["credentials that are wrong", "/graphql", 401, { method: "POST", headers: { "X-Access-Token": "amp_mistyped" } }],
    ["another path of the API", "/api/nothing", 404],
    ["a path in capitals", "/API/chats", 401],
    ["a wrong method", "/api/chats", 405, { method: "DELETE" }],
  ])("nor %s", async (_name, path, status, init = {}) => {
    const headers = { "Content-Type": "application/json", ...init.headers }
    const answer = await fetch(w.url + path, { ...init, headers })
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([status, "no-store"])
  })

  it.each(["/api/docs", "/api/openapi.json", "/graphql/schema.graphql", "/graphql"])("but may keep a document: %s", async (path) => {
    const answer = await fetch(w.url + path, { headers: { Accept: "text/html,*/*;q=0.8" } })
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-cache"])
  })
})

describe("credentials", () => {
  it.each(guarded)("%s requires them, whatever the body", async (_name, route) => {
    const address = addressOf(route, own) + queryFor(route, own)
    const { body } = await ask(route, address, null).expect(401)
    expect(body).toMatchObject({ code: "UNAUTHENTICATED", statusCode: 401, error: "Unauthorized", details: [] })
    await ask(route, address, "no.such.jwt").expect(401)
    await ask(route, address, { "X-Access-Token": "amp_mistyped" }).expect(401)
    if (route.body) await rest.anonymous.ask(methodOf(route), address).type("json").send("{ malformed").expect(401)
  })

  it.each(guarded.filter(([, route]) => credentialFor(route, { owner: { jwt: "person" } } as never) === "person"))(
    "%s requires a person's, an access token is 401",
    async (_name, route) => {
      await ask(route, addressOf(route, own), acme.token).expect(401)
    },
  )
})

describe("ids in a path, over both protocols", () => {
  const cases = withIds.flatMap(([name, route]) => parametersIn(route.path).map((parameter) => [name, parameter, route] as const))

  // Removing something that is not on the chat is no error (specification, Errors).
  const taken = ["label", "commentId"]
  const naming = cases.filter(([, parameter, route]) => !taken.includes(parameter) && !route.path.endsWith("/tags/{tagId}"))

  promised.each(naming)(
    "%s: another company's {%s} is refused like a missing one, and nothing changes",
    async (_name, parameter, route) => {
      const status = parameter === "companyId" ? 403 : 404
      const before = await everythingOf(w, globex.id)
      const theirs = new RegExp(`([\\w-]+)/\\{${parameter}\\}`).exec(route.path)![1]!
      const refused = await askThrough(both, route, addressOf(route, own, { [parameter]: foreign[theirs]! })).expect(status)
      const missing = await askThrough(both, route, addressOf(route, own, { [parameter]: v7() })).expect(status)

      expect({ ...refused.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" })
      expect(await everythingOf(w, globex.id)).toBe(before)
    },
  )

  it.each(cases.filter(([, parameter]) => parameter !== "label"))("%s: a malformed {%s} is 400", async (_name, parameter, route) => {
    for (const malformed of ["not-a-uuid", "123", "%00", `${v7()}0`]) {
      const { body } = await askThrough(both, route, addressOf(route, own, { [parameter]: malformed })).expect(400)
      expect(body).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: parameter }] })
    }
  })

  const changing = withIds.filter(([, route]) => route.method === "PATCH" && route.body)
  // Which of these may be null depends on the kind of the item, so the item is read first.
  const dependOnRow = ["resourceContent", "resourceUrl", "fileId"]

  it.each(changing)("%s: null for a field that is never null is reported before a missing row", async (_name, route) => {
    const [mine, theirs] = [await belongings(acme, kindsOf(route, acme)), await belongings(globex, kindsOf(route, globex))]
    const fields = Object.keys(bodySchemaOf(w.openapi, route.path, "patch").properties)
    const send = (things: Belongings, field: string) =>
      rest.as(credentialFor(route, acme)).patch(addressOf(route, things, { companyId: acme.id }), { [field]: null })
    for (const field of fields.filter((each) => !dependOnRow.includes(each))) {
      const { body, status } = await send(mine, field)
      const isRefused = status === 400 && body.details.some(({ message }: { message: string }) => /must not be null/.test(message))
      expect([field, (await send(theirs, field)).status]).toEqual([field, isRefused ? 400 : expect.any(Number)])
    }
  })

  it("are case-insensitive", async () => {
    const { body } = await both.as(acme.token).get(`/api/chats/${own["chats"]!.toUpperCase()}`).expect(200)
    expect(body.id).toBe(own["chats"])
  })
})

it("an address that cannot be decoded is 400", async () => {
  await rest.as(acme.token).get("/api/chats/%zz").expect(400)
  for (const label of ["%zz", "%", "%ed%a0%80"])
    await rest.as(acme.token).delete(`/api/chats/${own["chats"]}/meta/labels/${label}`).expect(400)
})

describe("companies, over both protocols", () => {
  const lists = reading.filter(([, route]) => route.document.includes("$companyId") && !route.path.includes("{companyId}"))

  it.each(lists)("%s of a company out of reach is 403", async (_name, route) => {
    for (const companyId of [globex.id, v7()]) await askThrough(both, route, `${route.path}?companyId=${companyId}`).expect(403)
    await askThrough(both, route, `${route.path}?companyId=${acme.id}`).expect(200)
  })

  // Knowledge and tools belong to their assistant's company and name none; the same holds for copies.
  const makers = everyRoute.filter(
    ([, { method, body, path }]) => method === "POST" && body === "input" && !/knowledge|tools|\{/.test(path),
  )

  it.each(makers)("%s for a company out of reach is 403", async (_name, route) => {
    const before = await everythingOf(w, globex.id)
    await both
      .as(acme.token)
      .post(route.path, { ...bodyFor(route, own), companyId: globex.id })
      .expect(403)
    expect(await everythingOf(w, globex.id)).toBe(before)
  })
})

describe("paths and methods", () => {
  it.each([null, "token"])("an unknown path is 404 with credentials %s", async (credential) => {
    const known = rest.as(credential && acme.token)
    for (const path of ["/api/nothing", "/api/chats/a/b/c/d", "/api"]) {
      for (const method of ["get", "post", "patch", "put", "delete"] as const) {
        const { body } = await known.ask(method, path).expect(404)
        expect(body.code).toBe("NOT_FOUND")
      }
    }
  })

  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

  it.each(["/nothing", "/api/nothing", "/graphql/nothing", "/hooks/nothing", "/media"])("%s is a page for a browser", async (path) => {
    const answer = await fetch(`${w.url}${path}`, { headers: { accept: browser } })
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
    const other = await fetch(`${w.url}${path}`)
    expect([other.status, await other.json()]).toMatchObject([404, { code: "NOT_FOUND" }])
  })

  it("a refused request to a known path is JSON for a browser too", async () => {
    const id = "00000000-0000-7000-8000-000000000000"
    const headers = { accept: browser, "x-access-token": acme.token }
    const missing = await fetch(`${w.url}/api/chats/${id}`, { headers })
    expect([missing.status, await missing.json()]).toMatchObject([404, { message: "Chat not found" }])
    const wrong = await fetch(`${w.url}/api/chats/${id}`, { headers, method: "PUT" })
    expect([wrong.status, await wrong.json()]).toMatchObject([405, { code: "METHOD_NOT_ALLOWED" }])
  })

  const paths = [...new Set(routeTable.map((route) => route.path))]

  it.each(paths)("%s: a wrong method is 405 and lists the allowed ones", async (path) => {
    const address = addressOf({ path } as Route, own)
    const fits = routeTable.filter((route) => new RegExp(`^${route.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(address))
    const right = new Set(fits.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])))
    const wrong = (["get", "post", "put", "patch", "delete", "head"] as const).filter((method) => !right.has(method.toUpperCase()))
    expect(wrong).not.toEqual([])
    for (const method of wrong) {
      for (const credential of [null, acme.token]) {
        const { headers } = await rest.as(credential).ask(method, address).expect(405)
        expect(headers["allow"]!.split(", ").sort()).toEqual([...right].sort())
      }
    }
  })

  it.each(reading)("%s answers HEAD as GET, without the body", async (_name, route) => {
    const address = addressOf(route, own) + queryFor(route, own)
    const got = await ask(route, address).expect(200)
    const head = await rest.as(credentialFor(route, acme)).ask("head", address).expect(200)
    expect(head.headers["content-length"]).toBe(got.headers["content-length"])
    expect(head.text ?? "").toBe("")
  })
})

describe("X-Request-Id", () => {
  it("is the caller's when it is valid, and is in the error", async () => {
    const { headers, body } = await rest.anonymous.get("/api/chats").set("X-Request-Id", "order-4711").expect(401)
    expect([headers["x-request-id"], body.requestId]).toEqual(["order-4711", "order-4711"])
  })

  it.each(["with spaces", "x".repeat(129)])("is ours when the caller's is not: %s", async (insane) => {
    const { headers } = await rest.as(acme.token).get("/api/chats").set("X-Request-Id", insane).expect(200)
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe("openapi.json", () => {
  it.each([
    ["/api/auth/sign-in", "post"],
    ["/api/auth/refresh", "post"],
    ["/api/auth/me", "get"],
    ["/api/companies/{companyId}/access-tokens", "get post"],
    ["/api/companies/{companyId}/access-tokens/{tokenId}", "patch delete"],
    ["/api/companies/my", "get"],
    ["/api/companies/{id}", "get"],
    ["/api/assistants-new", "get post"],
    ["/api/assistants-new/{id}", "get patch delete"],
    ["/api/assistants-new/{id}/copy", "post"],
    ["/api/assistant-knowledge-new", "get post"],
    ["/api/assistant-knowledge-new/{id}", "get patch delete"],
    ["/api/assistant-knowledge-new/query", "post"],
    ["/api/chats/messengers", "get"],
    ["/api/chats", "get post"],
    ["/api/chats/{id}", "get patch delete"],
    ["/api/chats/{id}/ai-control", "patch"],
    ["/api/chats/{id}/assign-assistant", "patch"],
    ["/api/chats/{id}/unassign-assistant", "patch"],
    ["/api/chat-folders", "get post"],
    ["/api/chat-folders/{id}", "patch delete"],
    ["/api/messages", "get post"],
    ["/api/messages/{id}", "get"],
  ])("documents %s (%s)", (path, methods) => {
    expect(Object.keys(w.openapi.paths[path] ?? {})).toEqual(expect.arrayContaining(methods.split(" ")))
  })

  it("names every object, each with a type of its own, and all names are used", () => {
    const { schemas } = w.openapi.components
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(["Chat", "ChatPage", "CreateChatInput", "Error", "Message", "MessageReplyTo", "Messenger"]),
    )
    const anonymous = JSON.stringify(
      [w.openapi.paths, ...Object.values(schemas).map((schema) => (schema as { properties?: object }).properties ?? {})],
      (key, value) => (key === "example" ? undefined : value),
    )
      .split('"multipart/form-data"')
      .map((part, index) => (index === 0 ? part : part.replace(/"type":"object"/, "")))
      .join("")
    expect(anonymous).not.toMatch(/"type":"object"/)
    const used = new Set([...JSON.stringify(w.openapi).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
    expect(Object.keys(schemas).filter((name) => !used.has(name))).toEqual([])
  })

  it("has the words of REST in its descriptions, not the names of GraphQL", () => {
    const names = Object.values(platformSchema.getTypeMap()).flatMap((type) => (isEnumType(type) ? type.getValues() : []))
    const onlyInGraphql = names.filter(({ name, value }) => name !== value && name.length > 3).map(({ name }) => name)
    const descriptions: string[] = []
    JSON.stringify(w.openapi, (key, value) => {
      if (key === "description" && typeof value === "string") descriptions.push(value)
      return value
    })
    const wrong = descriptions.filter((text) => text.match(/\b[A-Z][A-Z_]+\b/g)?.some((word) => onlyInGraphql.includes(word)))
    expect(wrong.filter((text) => text !== "Always PLATFORM.")).toEqual([])
  })

  it("says of every route that it answers 503 with Retry-After while a service is away", () => {
    // The version comes from no service.
    const { "/version": _version, ...paths } = w.openapi.paths
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods as object))
    expect(operations).not.toEqual([])
    for (const { responses } of operations) expect(responses["503"]).toEqual({ $ref: "#/components/responses/ServiceUnavailable" })
    expect(w.openapi.components.headers["Retry-After"]).toMatchObject({ required: true, schema: { type: "integer" } })
    expect(w.openapi.components.responses.ServiceUnavailable).toMatchObject({
      headers: { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    })
  })
})

describe("REST and GraphQL", () => {
  const graphql = () => protocols.find(([name]) => name === "GraphQL")![1](w)

  it.each(reading)("%s returns the same object", async (_name, route) => {
    const include = Object.keys(route.include ?? {})
    const query = include.length > 0 ? `?include=${include.join(",")}` : queryFor(route, own)
    const shown = await askThrough(w.rest as unknown as ApiClient, route, addressOf(route, own) + query).expect(200)
    const asked = await askThrough(graphql(), route, addressOf(route, own) + query).expect(200)
    expect(unsigned(asked.body)).toEqual(unsigned(shown.body))
  })

  const changing = everyRoute.filter(([, route]) => route.method !== "GET" && !isPublic(route) && !route.multipart)

  /** The response of a route over a protocol, for fresh rows that are equal each time. */
  async function aboutOwn(client: ApiClient, route: Route, bodyOf = (things: Belongings) => bodyFor(route, things)) {
    const things = await belongings(acme, kindsOf(route, acme, bodyOf))
    const { status, body } = await askThrough(client, route, addressOf(route, things), things, bodyOf(things))
    return { status, body: alike(body) }
  }

  it.each(changing)("%s returns the same object, for equal rows", async (_name, route) => {
    const shown = await aboutOwn(w.rest as unknown as ApiClient, route)
    expect(shown.status).toBe(route.status ?? (route.method === "POST" ? 201 : 200))
    expect(await aboutOwn(graphql(), route)).toEqual(shown)
  })

  it.each(fullBodies)("%s %s returns the same object", async (name, _says, body) => {
    const route = everyRoute.find(([named]) => named === name)![1]
    const shown = await aboutOwn(w.rest as unknown as ApiClient, route, body)
    expect(shown.status).toBe(route.status ?? (route.method === "POST" ? 201 : 200))
    expect(await aboutOwn(graphql(), route, body)).toEqual(shown)
  })

  /** Replaces each id by a number in order of appearance, and removes times. */
  const alike = (body: unknown) => {
    const seen: string[] = []
    const numbered = (id: string) => `#${seen.includes(id) ? seen.indexOf(id) : seen.push(id) - 1}`
    const text = JSON.stringify(unsigned(body))
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, numbered)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "then")
      .replace(/amp_\w+/g, "amp")
      .replace(/whsec_[\w+/=]+/g, "whsec")
      .replace(/(Tag |visitor-|tool|"latencyMs":)[#\d]+/g, "$10")
    return JSON.parse(text)
  }

  describe("have one schema, which differs only in the names of enum values:", () => {
    const schema = platformSchema
    const ofRest = inRestWords(schema)
    const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith("__"))

    it.each(types.filter((type) => !isEnumType(type)).map((type) => [type.name, type] as const))("%s", (name, type) => {
      const own = ofRest.getType(name)!
      expect(printType(own)).toBe(printType(type))
      if (!isObjectType(type)) return
      const resolvers = (each: typeof type) => Object.values(each.getFields()).map(({ resolve, subscribe }) => ({ resolve, subscribe }))
      expect(resolvers(own as typeof type)).toEqual(resolvers(type))
    })

    it.each(types.filter(isEnumType).map((type) => [type.name, type] as const))("%s", (name, type) => {
      const words = ofRest.getType(name) as GraphQLScalarType
      for (const { name: called, value } of type.getValues()) {
        expect([words.parseValue(value), words.serialize(value), type.parseValue(called)]).toEqual([value, value, value])
        if (called !== value) expect(() => words.parseValue(called)).toThrow(BadUserInput)
      }
    })
  })
})
