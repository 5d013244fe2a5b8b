import fc, { type Arbitrary } from "fast-check"
import { anyCredential, type Generated, harvest, single, strangeHeaders } from "./generated.js"
import { withHostile } from "./hostile-values.js"
import { type Field, type JsonSchema, type Shape, shapeOfSchema } from "./shapes.js"
import { validOf } from "./valid-values.js"

/** An operation of the OpenAPI document. */
interface RouteObject {
  parameters?: { name: string; in: "path" | "query" | "header"; required: boolean; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}

interface Document {
  paths: Record<string, Record<string, RouteObject>>
  components: { schemas: Record<string, JsonSchema> }
}

/** A REST route with what is generated of it. */
export interface RestRoute {
  /** `REST GET /api/chats/{id}`. */
  key: string
  requests: Arbitrary<Generated>
}

/** The type that a route is about, by the part of its path after `/api/`. */
const ownerOfPart: Record<string, string> = {
  companies: "Company",
  "assistants-new": "Assistant",
  "assistant-tools-new": "AssistantTool",
  "assistant-knowledge-new": "Knowledge",
  chats: "Chat",
  "chat-folders": "ChatFolder",
  "chat-tags": "ChatTag",
  messages: "Message",
  "event-webhooks": "EventWebhook",
  "mcp-servers": "McpServer",
}

/** The types of the objects that routes create. */
const made: Record<string, string> = {
  "POST /api/chats": "Chat",
  "POST /api/messages": "Message",
  "POST /api/assistants-new": "Assistant",
  "POST /api/assistants-new/{id}/copy": "Assistant",
  "POST /api/assistant-tools-new": "AssistantTool",
  "POST /api/assistant-knowledge-new": "Knowledge",
  "POST /api/chat-folders": "ChatFolder",
  "POST /api/chat-tags": "ChatTag",
  "POST /api/companies/{companyId}/access-tokens": "AccessToken",
  "POST /api/event-webhooks": "EventWebhook",
  "POST /api/companies/{companyId}/mcp-servers": "McpServer",
}

/** Every route of the OpenAPI document that takes JSON or nothing; uploads are generated elsewhere. */
export function restRoutes(document: Document): RestRoute[] {
  return Object.entries(withoutReferences(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => !requestBody?.content["multipart/form-data"])
      .map(([method, route]) => routeOf(method.toUpperCase(), path, route)),
  )
}

/** An OpenAPI document whose schemas are written out where they are used. */
function withoutReferences(document: Document): Document {
  const inlined = new Map<string, unknown>()
  const inline = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_key, each: { $ref?: string } | null) => {
      const name = each?.$ref?.split("#/components/schemas/")[1]
      if (!name) return each
      if (!inlined.has(name)) inlined.set(name, inline(document.components.schemas[name]))
      return inlined.get(name)
    })
  return inline(document) as Document
}

interface Parts {
  path: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

function routeOf(method: string, path: string, route: RouteObject): RestRoute {
  const owner = ownerOfPart[path.split("/")[2]!] ?? "Chat"
  const isDeletion = method === "DELETE" && /(^\/api\/[\w-]+\/\{id\}|\{tokenId\})$/.test(path)
  const shapeOf = (place: "path" | "query"): Shape => {
    const parameters = (route.parameters ?? []).filter((parameter) => parameter.in === place)
    const fields = parameters.map(({ name, required, schema }): [string, Field] => [
      name,
      { shape: shapeOfSchema(schema, name, owner, isDeletion), isRequired: required },
    ])
    return { kind: "object", fields: Object.fromEntries(fields) }
  }
  const body = route.requestBody && shapeOfSchema(route.requestBody.content["application/json"]!.schema, "body", owner)
  const valid = fc.record({
    path: validOf(shapeOf("path")),
    query: validOf(shapeOf("query")),
    body: body ? validOf(body) : fc.constant(undefined),
  }) as Arbitrary<Parts>
  const parts = fc.oneof({ arbitrary: valid, weight: 4 }, { arbitrary: withHostile(valid, 1), weight: 6 })
  const key = `REST ${method} ${path}`
  const makes = made[`${method} ${path}`]
  const requests = fc.tuple(parts, anyCredential, strangeHeaders, anyText).map(([given, credential, headers, text]) =>
    single({
      build({ company: { pools } }) {
        const resolved = pools.resolved(given) as Parts
        const address = pathOf(path, resolved.path) + searchOf(resolved.query)
        const more = body ? { "content-type": "application/json", ...headers } : headers
        // One in twenty has a body that is no JSON object, also where the route takes none.
        const sent = text ?? (body ? JSON.stringify(resolved.body ?? null) : undefined)
        return { key, credential, method, path: address, headers: more, body: sent }
      },
      learn(client, answer) {
        if (makes && answer.status === 201) client.company.pools.add(makes, answer.body.id)
        harvest(client, answer.text)
      },
    }),
  )
  return { key, requests }
}

/** A body that is no JSON object; undefined, most often, for the route's own. */
const anyText: Arbitrary<string | undefined> = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 95 },
  {
    arbitrary: fc.constantFrom(
      "",
      "{",
      "[]",
      "null",
      "1",
      '"text"',
      '{"a":1}}',
      '{"name":"a","name":"b"}',
      '{"__proto__":{"name":"a"},"constructor":1}',
      `{"name":${"[".repeat(20_000)}`,
      `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
      "\u0000",
      "\uFEFF{}",
      "x".repeat(1_048_600),
    ),
    weight: 5,
  },
)

/** Percent-encoded, also where the text is no valid Unicode. */
function encoded(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined")
  // A lone surrogate as UTF-8 would write it, which no valid text contains.
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed()).replaceAll("%EF%BF%BD", "%ED%A0%80")
}

/** The longest part of an address: all of it must fit into what an HTTP server reads. */
const longest = 6_000

const pathOf = (path: string, values: Record<string, unknown>) =>
  path.replace(
    /\{(\w+)\}/g,
    (_all, name) =>
      encoded(values[name] ?? "")
        .slice(0, longest)
        .replace(/%.?$/, "") || "-",
  )

function searchOf(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value.slice(0, 20) : [value]).map((each) => `${encoded(name)}=${encoded(each).slice(0, longest)}`),
  )
  return pairs.length > 0 ? `?${pairs.join("&").slice(0, 2 * longest)}` : ""
}
