import type { JsonSchema } from "../../src/rest/kit/json-schema.js"
import type { Recorded, Recording } from "../examples/player.js"
import { componentExamples } from "./component-examples.js"
import { parameterExample } from "./parameter-examples.js"

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
type Document = any

const json = "application/json"

const unavailable = {
  statusCode: 503,
  error: "Service Unavailable",
  message: "The service is not available at the moment: try again in a few seconds",
  code: "SERVICE_UNAVAILABLE",
  details: [],
  requestId: "0197a3c0-8f00-7000-8000-000000000001",
}

/** Adds what a server answered as the examples of a document: of each operation, parameter, schema and error. */
export function addExamples(document: Document, { routes, errors }: Recording) {
  const found = new ComponentExamples(document)
  for (const [path, methods] of Object.entries<Document>(document.paths))
    for (const [method, operation] of Object.entries<Document>(methods)) {
      const name = `${method.toUpperCase()} ${path}`
      const recorded = routes[name]
      for (const parameter of operation.parameters) {
        const { $ref } = parameter.schema
        const schema = $ref ? document.components.schemas[$ref.split("/").at(-1)] : parameter.schema
        parameter.example = exampleOf(name, { ...parameter, schema }, recorded)
      }
      if (name === "GET /version") continue
      if (!recorded) throw new Error(`scripts/examples/story.ts sends no request of ${name}`)
      if (recorded.body) ofBody(operation.requestBody.content[json], recorded.body)
      if (recorded.file) operation.requestBody.content["multipart/form-data"].example = { file: recorded.file }
      ofBody(operation.responses[recorded.status].content[json], recorded.answer)
    }
  for (const response of Object.values<Document>(document.components.responses)) {
    const known = Object.values<Document>(errors).find(({ error }) => error === response.description)
    // Only a server in distress answers with 503.
    ofBody(response.content[json], known ?? unavailable)
  }
  found.place()

  function ofBody(content: Document, value: unknown) {
    content.example = value
    found.look(content.schema, value)
  }
}

function exampleOf(route: string, { name, in: place, schema }: Document, recorded: Recorded | undefined): unknown {
  const values = place === "path" ? recorded?.path : recorded?.query
  return parameterExample(route, name, schema, values?.[name])
}

/** Finds an example of each component: the value with the most fields that say something, the first of several. */
class ComponentExamples {
  readonly #best = new Map<string, { value: unknown; size: number }>()

  constructor(private readonly document: Document) {}

  look(schema: JsonSchema, value: unknown) {
    const { $ref, anyOf, items, properties } = schema as Document
    if (value === null || value === undefined) return
    if (anyOf) this.look(anyOf[0], value)
    if (items) for (const item of value as unknown[]) this.look(items, item)
    for (const [name, inner] of Object.entries<Document>(properties ?? {})) this.look(inner, (value as Document)[name])
    if (!$ref) return
    const name = $ref.split("/").at(-1)
    const size = sizeOf(value)
    if (size > (this.#best.get(name)?.size ?? 0)) this.#best.set(name, { value, size })
    this.look(this.document.components.schemas[name], value)
  }

  place() {
    for (const [name, schema] of Object.entries<Document>(this.document.components.schemas)) {
      if (schema.examples) continue
      const example = this.#best.get(name)?.value ?? schema.enum?.[0] ?? componentExamples[name]
      if (example === undefined)
        throw new Error(`Neither scripts/examples/story.ts nor scripts/openapi/component-examples.ts has a ${name}`)
      schema.examples = [example]
    }
  }
}

/** How many fields say something, in all objects of a value. */
function sizeOf(value: unknown): number {
  if (value === null || typeof value !== "object") return value === null ? 0 : 1
  return Object.values(value).reduce((sum: number, inner) => sum + sizeOf(inner), 1)
}
