import { readFileSync } from "node:fs"
import Ajv from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { record, recordedWith, stopClock } from "../../scripts/examples/record.js"
import { clock } from "../../src/entities/kit/clock.js"
import { closeDatabases, emptyDatabase } from "../kit/databases.js"
import { world } from "../kit/world.js"

const w = world()
afterAll(closeDatabases)

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
const document: any = JSON.parse(readFileSync("openapi.json", "utf8"))

// biome-ignore lint/suspicious/noExplicitAny: an operation is walked by name.
const operations: [string, any][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as object).map(([method, operation]): [string, unknown] => [`${method.toUpperCase()} ${path}`, operation]),
)

const ajv = new Ajv.default({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, "api")
/** What is wrong with an example; null when it fits its schema. */
function faultsOf(schema: object, example: unknown): string | null {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components')
  const validate = ajv.compile(JSON.parse(text))
  return validate(example) ? null : ajv.errorsText(validate.errors)
}

describe("the examples of openapi.json", () => {
  it("are what a server with the demo answers now", async () => {
    const database = await emptyDatabase()
    stopClock()
    try {
      const server = await database.start(recordedWith)
      const recording = await record(server)
      // What the server does beside a request may happen a moment earlier or later.
      const timeless = (value: unknown) => JSON.stringify(value, null, 1).replace(/2026-01-30T09:\d\d:\d\d\.000Z/g, "now")
      const committed = JSON.parse(readFileSync("scripts/examples/recording.generated.json", "utf8"))
      expect(timeless(recording)).toEqual(timeless(committed))
    } finally {
      clock.reset()
    }
  })

  it.each(operations)("show a response of %s, and its body", (_name, { requestBody, responses }) => {
    for (const [status, { content }] of Object.entries<{ content?: Record<string, { schema: object; example: unknown }> }>(responses)) {
      const shown = content?.["application/json"]
      if (!shown) continue
      expect([status, shown.example]).toEqual([status, expect.anything()])
      expect(faultsOf(shown.schema, shown.example)).toBeNull()
    }
    for (const { schema, example } of Object.values<{ schema: object; example: unknown }>(requestBody?.content ?? {}))
      expect(faultsOf(schema, example)).toBeNull()
  })

  it("show each error", () => {
    const errors = Object.entries<{ content: { "application/json": { example: unknown } } }>(document.components.responses)
    expect(errors.length).toBeGreaterThan(8)
    for (const [name, { content }] of errors)
      expect([name, faultsOf({ $ref: "#/components/schemas/Error" }, content["application/json"].example)]).toEqual([name, null])
  })

  it.each(Object.entries<{ examples: unknown[] }>(document.components.schemas))("show a %s", (name, { examples }) => {
    expect(examples).toHaveLength(1)
    expect(faultsOf({ $ref: `#/components/schemas/${name}` }, examples[0])).toBeNull()
  })

  it.each(operations.filter(([name]) => name.startsWith("GET ") && !name.includes("{")))(
    "have parameters that the server takes: %s",
    async (name, operation) => {
      const path = name.split(" ")[1]!
      for (const { in: place, name: parameter, schema, example } of operation.parameters) {
        expect([parameter, faultsOf(schema, example)]).toEqual([parameter, null])
        // A cursor holds an ID, which is not a real one in an example.
        if (place !== "query" || parameter === "cursor") continue
        const companyId = operation.parameters.some((other: { name: string }) => other.name === "companyId") && { companyId: w.acme.id }
        const chatId = path === "/api/messages" && { chatId: document.components.schemas.Chat.examples[0].id }
        const query = new URLSearchParams({ ...companyId, ...chatId, [parameter]: String(example) })
        // "me" is the user of a JWT; IDs are those of another company.
        const { status, body } = await w.acme.rest.as(w.acme.owner.jwt).get(`${path}?${query}`)
        expect([parameter, [200, 403, 404].includes(status), body]).toEqual([parameter, true, body])
      }
    },
  )
})

describe("the headers of openapi.json", () => {
  it.each(operations)("are those of the response of %s", (name, { responses, parameters }) => {
    const [success] = Object.values<{ headers: object }>(responses)
    const names = Object.keys(success!.headers)
    const isIdempotent = parameters.some((parameter: { name: string }) => parameter.name === "Idempotency-Key")
    expect(names).toContain("X-Request-Id")
    expect([name, names.includes("Idempotency-Replayed")]).toEqual([name, isIdempotent])
  })
})
