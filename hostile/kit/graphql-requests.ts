import { gzipSync } from "node:zlib"
import fc, { type Arbitrary } from "fast-check"
import type { Client, HttpAnswer, HttpRequest } from "./client.js"
import type { CredentialName } from "./company.js"
import { anyCredential, type Draft, type Generated, harvest, single, strangeHeaders } from "./generated.js"
import { hostileBody } from "./graphql-documents.js"
import { type Operation, type RootField, resolvedQuery } from "./graphql-operations.js"

/** Keeps the ID of an object that an operation has created, and other values of its response. */
export function harvestOperation(client: Client, { field, makes }: Operation, text: string, data: Record<string, { id?: string }> | null) {
  const id = makes && data?.[field]?.id
  if (id) client.company.pools.add(makes, id)
  harvest(client, text)
}

/** The body of an operation, with what its references name now. */
export function bodyOf({ company: { pools } }: Client, { query, variables }: Operation): { query: string; variables: unknown } {
  return { query: resolvedQuery(query, (ref) => pools.valueOf(ref)), variables: pools.resolved(variables) }
}

type Way = "post" | "get" | "gzip" | "form"

const ways: Arbitrary<Way> = fc.oneof(
  { arbitrary: fc.constant("post" as const), weight: 90 },
  { arbitrary: fc.constant("get" as const), weight: 6 },
  { arbitrary: fc.constant("gzip" as const), weight: 2 },
  { arbitrary: fc.constant("form" as const), weight: 2 },
)

/** Requests of a root field, over HTTP. */
export function fieldRequests({ key, kind, operations }: RootField): Arbitrary<Generated> {
  // A session can be ended once.
  const credential: Arbitrary<CredentialName> = key === "Mutation.signOut" ? fc.constant("leaver") : anyCredential
  return fc.tuple(operations, credential, ways, strangeHeaders).map(([operation, name, way, headers]) => {
    const draft: Draft = {
      build: (client) => request({ key, credential: name, body: bodyOf(client, operation), way: kind === "query" ? way : "post", headers }),
      learn: (client, answer: HttpAnswer) => harvestOperation(client, operation, answer.text, answer.body?.data),
    }
    return single(draft)
  })
}

/** Requests whose document or body is hostile as a whole. */
export const documentRequests: Arbitrary<Generated> = fc
  .tuple(hostileBody, anyCredential, ways, strangeHeaders)
  .map(([body, credential, way, headers]) =>
    single({ build: () => request({ key: "GraphQL documents", credential, body, way: typeof body === "object" ? way : "post", headers }) }),
  )

interface Parts {
  key: string
  credential: CredentialName
  body: unknown
  way: Way
  headers: Record<string, string>
}

function request({ key, credential, body, way, headers }: Parts): HttpRequest {
  const common = { key, credential, method: "POST", path: "/graphql" }
  const json = { "content-type": "application/json", ...headers }
  const text = typeof body === "string" ? body : JSON.stringify(body)
  if (way === "gzip") return { ...common, headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(text) }
  if (way === "post") return { ...common, headers: json, body: text }
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(body as object))
    search.set(name, (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, 8_000))
  if (way === "form") return { ...common, headers: { ...json, "content-type": "application/x-www-form-urlencoded" }, body: String(search) }
  return { ...common, method: "GET", path: `/graphql?${String(search).slice(0, 12_000)}`, headers }
}
