import { request } from "node:http"
import type { Route } from "../../src/rest/kit/routes.js"
import { headersOf, type Method } from "../kit/clients.js"
import { unsigned } from "../kit/files.js"
import { bodySchemaOf, resolved } from "../kit/openapi.js"
import { addressOf, type Belongings, belongings, bodyFor, credentialFor, everyRoute, queryFor } from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w
let own: Belongings

beforeAll(async () => {
  own = await belongings(acme)
})

const methodOf = (route: Route) => route.method.toLowerCase() as Method
const takingBodies = everyRoute.filter(([, route]) => route.body)
const takingQueries = everyRoute.filter(
  ([, { method, path, document }]) =>
    method === "GET" &&
    [...(/^query \(([^)]*)/.exec(document)?.[1] ?? "").matchAll(/\$(\w+)/g)].some(([, name]) => !path.includes(`{${name}}`)),
)

/** Sends a body, as text, to a route that the company may use. */
const send = (route: Route, text: string, type = "application/json") =>
  rest.as(credentialFor(route, acme)).ask(methodOf(route), addressOf(route, own)).set("Content-Type", type).send(text)

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema is walked by name.
type Schema = any
const schemaOf = (route: Route): Record<string, Schema> => bodySchemaOf(w.openapi, route.path, methodOf(route)).properties

describe("bodies", () => {
  it.each(takingBodies)("%s: malformed JSON, and JSON that is not an object, is 400", async (_name, route) => {
    for (const text of ["{", '{"name": }', "[]", '"text"', "1", "null"]) await send(route, text).expect(400)
  })

  it.each(takingBodies)("%s: another content type is 415", async (_name, route) => {
    const text = JSON.stringify(bodyFor(route, own))
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const { body } = await send(route, text, type).expect(415)
      expect(body.code).toBe("UNSUPPORTED_MEDIA_TYPE")
    }
  })

  it.each(takingBodies)("%s: over 1 MB is 413", async (_name, route) => {
    const { body } = await send(route, JSON.stringify({ ...bodyFor(route, own), more: "x".repeat(1024 * 1024) })).expect(413)
    expect(body.code).toBe("PAYLOAD_TOO_LARGE")
  })

  it("over 1 MB is 413 also without a Content-Length", async () => {
    const text = JSON.stringify({ name: "x".repeat(1024 * 1024) })
    const status = await new Promise((resolve, reject) => {
      const headers = { ...headersOf(acme.token), "Content-Type": "application/json" }
      const sent = request(`${w.url}/api/chat-folders`, { method: "POST", headers }, (response) => resolve(response.statusCode))
      sent.on("error", reject)
      for (let at = 0; at < text.length; at += 65_536) sent.write(text.slice(at, at + 65_536))
      sent.end()
    })
    expect(status).toBe(413)
  })

  it.each(takingBodies)("%s: NUL in any text is 400", async (_name, route) => {
    for (const name of Object.keys(schemaOf(route))) {
      await send(route, JSON.stringify({ ...bodyFor(route, own), [name]: "a\u0000b" })).expect(400)
    }
  })

  it.each(takingBodies)("%s: a field of the wrong type is 400 and named in the error", async (_name, route) => {
    for (const [name, schema] of Object.entries(schemaOf(route))) {
      const { type } = resolved(w.openapi, schema.anyOf?.[0] ?? schema)
      if (type === undefined) continue
      const wrong = [
        type === "object" ? "text" : { a: 1 },
        type === "array" ? "text" : ["text"],
        ...(type === "string" ? [7, true] : ["7"]),
      ]
      for (const value of wrong) {
        const { body } = await send(route, JSON.stringify({ ...bodyFor(route, own), [name]: value })).expect(400)
        expect(body.details.map((detail: { path: string }) => detail.path.split(".")[0])).toContain(name)
      }
    }
  })

  it.each(takingBodies)("%s: a missing or null required field is 400", async (_name, route) => {
    const needs = route.requiredFields ?? []
    const { required = [] } = bodySchemaOf(w.openapi, route.path, methodOf(route))
    for (const name of required) {
      const { [name]: _left, ...rest } = bodyFor(route, own)!
      const { body: missing } = await send(route, JSON.stringify(rest)).expect(400)
      expect(missing.details).toContainEqual({ path: name, message: "is required" })
      // Except where null is a value: no folder.
      const { body } = await send(route, JSON.stringify({ ...rest, [name]: null })).expect(needs.includes(name) ? 200 : 400)
      if (!needs.includes(name)) expect(body.details[0].path).toBe(name)
    }
    if (required.length > 0) await send(route, "").expect(400)
  })

  it.each(takingBodies)("%s: __proto__ and constructor are not fields", async (_name, route) => {
    for (const key of ["__proto__", "constructor"]) {
      const { status, text } = await send(route, `{"${key}": {"polluted": "yes", "name": "polluted", "isAdmin": true}}`)
      expect([200, 201, 400]).toContain(status)
      expect(text).not.toContain("polluted")
    }
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
    const tables = await sql("select table_name from information_schema.columns where column_name = 'company_id'")
    for (const { table_name } of tables) {
      expect(await sql(`select 1 from "${table_name}" t where t::text like '%polluted%'`)).toEqual([])
    }
  })

  it.each(takingBodies)("%s: a body's field is not read from the query string", async (_name, route) => {
    const { required = [] } = bodySchemaOf(w.openapi, route.path, methodOf(route))
    const given = bodyFor(route, own)!
    const query = new URLSearchParams(Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]))
    const asked = rest.as(credentialFor(route, acme)).ask(methodOf(route), `${addressOf(route, own)}?${query}`)
    // Every POST requires a field, except the test of a tool without arguments and a copy; an empty PATCH changes nothing, and guardrails
    // without a rule are all off.
    const isEmptyFine = route.method === "PATCH" || route.path.endsWith("/guardrails")
    const needsNothing = /\/(test|copy)$/.test(route.path) ? 201 : isEmptyFine ? 200 : 400
    await asked.send({}).expect(required.length > 0 ? 400 : needsNothing)
  })

  it("an unknown field is ignored", async () => {
    await rest
      .as(acme.token)
      .post("/api/chat-folders", { name: "Returns", nonsense: { deep: [1] } })
      .expect(201)
  })
})

describe("query strings", () => {
  /** The parameters of a route, by its document. */
  const parametersOf = (route: Route): { name: string; schema: Schema }[] =>
    w.openapi.paths[route.path].get.parameters.filter((parameter: { in: string }) => parameter.in === "query")

  /** Sends a request with the required parameters and one more. */
  const asked = (route: Route, extra: string) => {
    const needed = queryFor(route, own)
    return rest.as(credentialFor(route, acme)).get(`${addressOf(route, own)}${needed}${needed ? "&" : "?"}${extra}`)
  }

  it.each(takingQueries)("%s: a repeated parameter is 400", async (_name, route) => {
    expect(parametersOf(route)).not.toEqual([])
    for (const { name } of parametersOf(route)) {
      const { body } = await asked(route, `${name}=1&${name}=1`).expect(400)
      expect(body.details).toContainEqual({ path: name, message: "must not be given twice" })
    }
  })

  it.each(takingQueries)("%s: a malformed parameter is 400", async (_name, route) => {
    const numbers = ["abc", "1e2", "-1", "", "1.5", "0x10", "%2B1", "01", "9999999999", "%201"]
    for (const { name, schema } of parametersOf(route)) {
      const bad =
        name === "take"
          ? [...numbers, "0", "101"]
          : schema.type === "integer"
            ? numbers
            : schema.type === "boolean"
              ? ["yes", "1", "TRUE", ""]
              : schema.format === "uuid" || schema.enum
                ? ["nonsense", ""]
                : ["a%00b"]
      for (const value of bad) await asked(route, `${name}=${value}`).expect(400)
    }
  })

  it.each(takingQueries)("%s: an unknown parameter, and an empty search or cursor, is ignored", async (_name, route) => {
    const names = parametersOf(route).map(({ name }) => name)
    const empty = ["filter", "search", "q", "include", "cursor"].filter((name) => names.includes(name)).map((name) => `${name}=`)
    const { body } = await asked(route, "").expect(200)
    const same = await asked(route, ["nonsense=1&nonsense=2", ...empty].join("&")).expect(200)
    expect(unsigned(same.body)).toEqual(unsigned(body))
  })
})
