import fc, { type Arbitrary } from "fast-check"
import { dressed, messageIn, type Revision, revisions } from "../../test/kit/mcp-messages.js"
import { type Told, toldBy, withToken } from "./answers.js"
import type { Client, HttpAnswer } from "./client.js"
import type { Company } from "./company.js"
import { anyCredential, type Generated, harvest, single, strangeHeaders } from "./generated.js"
import { hostileValue, withHostile } from "./hostile-values.js"
import { isPlain, Ref } from "./pools.js"
import { type JsonSchema, shapeOfSchema } from "./shapes.js"
import { validOf } from "./valid-values.js"

/** A tool as the server lists it. */
export interface ListedTool {
  name: string
  inputSchema: JsonSchema
}

/** What a tool is counted as. */
export const keyOfTool = ({ name }: Pick<ListedTool, "name">) => `MCP tool ${name}`

/** The types of the objects that tools create. */
const made: Record<string, string> = { send_message: "Message", add_knowledge: "Knowledge" }

/** Posts a message with a company's token. */
export async function tellMcp(
  url: string,
  company: Pick<Company, "token">,
  revision: Revision,
  method: string,
  given: object,
): Promise<Told> {
  const { headers, params } = dressed(revision, method, given as Record<string, unknown>)
  const sent = { "content-type": "application/json", ...headers, ...withToken(company) }
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: sent,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })
  const body = messageIn(answer.headers.get("content-type") ?? "", await answer.text())
  return toldBy(Response.json(body, { status: answer.status }))
}

/** The tools that a company sees. */
export async function toolsOf(url: string, company: Pick<Company, "token">): Promise<ListedTool[]> {
  const { body } = await tellMcp(url, company, "2026-07-28", "tools/list", {})
  return body.result.tools
}

const requestId: Arbitrary<unknown> = fc.oneof(fc.nat(1_000), fc.string({ maxLength: 20 }))

/** Headers that contradict the message, by chance: none in most requests. */
const contradictions: Arbitrary<Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 85 },
  {
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { "Mcp-Method": "tools/list" },
      { "Mcp-Name": "read_chat" },
      { "Mcp-Name": "__proto__" },
      { "Mcp-Name": "=?base64?cmVhZF9jaGF0?=" },
      { "MCP-Protocol-Version": "2025-06-18" },
      { "MCP-Protocol-Version": "2024-11-05" },
      { "MCP-Protocol-Version": "" },
      { "MCP-Protocol-Version": "x".repeat(3_000) },
      { "Mcp-Session-Id": "01890000-0000-7000-8000-000000000000" },
      { "Last-Event-ID": "1" },
      { Accept: "application/json" },
      { Accept: "text/event-stream" },
      { Origin: "http://evil.example" },
      { Origin: "x".repeat(3_000) },
    ),
    weight: 15,
  },
)

/** Calls of a tool, with valid arguments or with a hostile one. */
export function toolRequests(tool: ListedTool): Arbitrary<Generated> {
  const owner = /assistant|call|knowledge/.test(tool.name) ? "Assistant" : "Chat"
  const valid = validOf(shapeOfSchema(tool.inputSchema, "arguments", owner)) as Arbitrary<Record<string, unknown>>
  const given = fc.oneof({ arbitrary: valid, weight: 4 }, { arbitrary: withHostile(valid), weight: 6 })
  const meta = fc.option(
    fc.oneof(
      fc.nat(50).map((n) => ({ "Idempotency-Key": `key-${n}` })),
      hostileValue,
    ),
    { freq: 4, nil: undefined },
  )
  return fc
    .tuple(given, meta, fc.constantFrom(...revisions), requestId, anyCredential, contradictions, strangeHeaders)
    .map(([args, _meta, revision, id, credential, contradicting, strange]) =>
      single({
        build({ company: { pools } }) {
          const wanted = { name: tool.name, arguments: pools.resolved(args), ...(_meta !== undefined && { _meta: pools.resolved(_meta) }) }
          const { headers, params } = dressed(revision, "tools/call", wanted)
          const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })
          const all = { "content-type": "application/json", ...headers, ...contradicting, ...strange }
          return { key: keyOfTool(tool), credential, method: "POST", path: "/mcp", headers: all, body }
        },
        learn: (client, answer) => learn(client, tool.name, answer),
      }),
    )
}

function learn(client: Client, name: string, { headers, text }: HttpAnswer) {
  harvest(client, text)
  const message = messageIn(headers["content-type"], text) as { result?: { structuredContent?: { id?: string } } } | null
  const id = message?.result?.structuredContent?.id
  if (made[name] && id) client.company.pools.add(made[name], id)
}

const methods = [
  "initialize",
  "server/discover",
  "tools/list",
  "tools/call",
  "ping",
  "notifications/initialized",
  "notifications/cancelled",
  "subscriptions/listen",
  "resources/read",
  "prompts/get",
  "sampling/createMessage",
  "logging/setLevel",
  "tasks/get",
  "__proto__",
  "constructor",
  "toString",
  "",
]

/** Bodies that are no message. */
const texts = [
  "",
  "{",
  "[]",
  "null",
  "1",
  '"ping"',
  "\u0000",
  "\uFEFF{}",
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":null,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1}',
  '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
  '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"params":{}},"constructor":{"prototype":1}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{}}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor","arguments":{"__proto__":{"chatId":1}}}}',
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
  `${'{"params":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  `{"jsonrpc":"2.0","id":"${"x".repeat(900_000)}","method":"ping"}`,
  `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(900_000)}"}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_chats","arguments":{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`).join(",")}}}}`,
  `[${Array.from({ length: 5_000 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`).join(",")}]`,
  "x".repeat(1_048_600),
]

const message = fc.record({
  jsonrpc: fc.constant("2.0"),
  id: requestId,
  method: fc.constantFrom(...methods),
  params: fc.oneof(
    fc.constant({}),
    fc.record({ name: fc.constantFrom("read_chat", "search_chats", "nothing"), arguments: fc.constant({}), _meta: fc.constant({}) }),
    fc.record({ protocolVersion: fc.constantFrom(...revisions), capabilities: fc.constant({}), clientInfo: fc.constant({}) }),
    fc.record({ cursor: fc.string({ maxLength: 20 }) }),
  ),
})

/** Malformed and strange messages, batches, and bodies that are none. */
export const messageRequests: Arbitrary<Generated> = fc
  .tuple(
    fc.oneof(
      { arbitrary: fc.constantFrom(...texts), weight: 3 },
      { arbitrary: message, weight: 2 },
      { arbitrary: withHostile(message), weight: 5 },
      { arbitrary: fc.array(message, { maxLength: 5 }), weight: 1 },
    ),
    fc.constantFrom(...revisions, null),
    fc.constantFrom("POST", "POST", "POST", "POST", "POST", "GET", "DELETE", "PUT"),
    anyCredential,
    contradictions,
    strangeHeaders,
  )
  .map(([drafted, revision, method, credential, contradicting, strange]) =>
    single({
      build({ company: { pools } }) {
        const { body, more } = sentAs(pools.resolved(drafted), revision)
        const headers = { "content-type": "application/json", ...more, ...contradicting, ...strange }
        return { key: "MCP messages", credential, method, path: "/mcp", headers, ...(method !== "GET" && { body }) }
      },
    }),
  )

/** The body of what was drafted and its further headers, in the form of a revision where it has the form of a message. */
function sentAs(drafted: unknown, revision: Revision | null): { body: string; more: Record<string, string> } {
  const { method, params } = Object(drafted) as { method?: unknown; params?: unknown }
  const isMessage = typeof method === "string" && /^[\x20-\x7e]{0,200}$/.test(method) && (params === undefined || isPlain(params))
  if (revision && isMessage) {
    const { headers, params: dressedParams } = dressed(revision, method, { ...(params as object) })
    return { body: JSON.stringify({ ...(drafted as object), params: dressedParams }), more: headers }
  }
  const more = { Accept: "application/json, text/event-stream", ...(revision && { "MCP-Protocol-Version": revision }) }
  return { body: typeof drafted === "string" ? drafted : JSON.stringify(drafted), more }
}

/** Arguments of a tool with an ID of another company for each of its IDs; one set for each, and one for all. */
export function foreignArguments(tool: ListedTool, { pools }: Pick<Company, "pools">, n: number): Record<string, unknown>[] {
  const shape = shapeOfSchema(tool.inputSchema, "arguments", "Chat")
  if (shape.kind !== "object") return []
  const drafted = fc.sample(validOf(shape) as Arbitrary<Record<string, unknown>>, { seed: n, numRuns: 1 })[0]!
  const foreign = (name: string) => {
    const field = shape.fields[name]!.shape
    const of = field.kind === "id" ? field.of : field.kind === "list" && field.item.kind === "id" ? field.item.of : null
    if (of === null) return null
    const ref = new Ref(of, n, "foreign")
    return field.kind === "list" ? [ref] : ref
  }
  const ids = Object.keys(shape.fields).filter((name) => foreign(name) !== null)
  const withForeign = (names: string[]) => ({ ...drafted, ...Object.fromEntries(names.map((name) => [name, foreign(name)])) })
  return [ids, ...ids.map((name) => [name])].map((names) => pools.resolved(withForeign(names)) as Record<string, unknown>)
}
