import fc, { type Arbitrary } from "fast-check"
import type { Client, HttpAnswer, HttpRequest } from "./client.js"
import type { CredentialName } from "./company.js"

/** A generated request, or a group of requests that belong together. */
export interface Generated {
  /** How many requests it counts as. */
  requests: number
  send(client: Client): Promise<void>
}

/** A request with references, and what is done with its response. */
export interface Draft {
  build(client: Client): HttpRequest
  learn?(client: Client, answer: HttpAnswer): void
}

/** A single request over HTTP. */
export const single = ({ build, learn }: Draft): Generated => ({
  requests: 1,
  async send(client) {
    const answer = await client.http(build(client))
    if (answer) learn?.(client, answer)
  },
})

/** Credentials by how often they are used: most requests must come further than the check of credentials. */
export const anyCredential: Arbitrary<CredentialName> = fc.oneof(
  { arbitrary: fc.constant("owner" as const), weight: 34 },
  { arbitrary: fc.constant("token" as const), weight: 30 },
  { arbitrary: fc.constant("admin" as const), weight: 6 },
  { arbitrary: fc.constant("member" as const), weight: 8 },
  { arbitrary: fc.constant("readToken" as const), weight: 6 },
  { arbitrary: fc.constant("visitor" as const), weight: 8 },
  { arbitrary: fc.constant("none" as const), weight: 4 },
  { arbitrary: fc.constant("bad" as const), weight: 4 },
)

/** Keeps what a response shows that later requests may name. */
export function harvest({ company: { pools } }: Client, text: string) {
  const cursor = /"(?:nextCursor|endCursor)":"([^"]+)"/.exec(text)?.[1]
  if (cursor) pools.add("cursor", cursor)
  const refreshToken = /"refreshToken":"([^"]+)"/.exec(text)?.[1]
  if (refreshToken) pools.add("refreshToken", refreshToken)
  const media = /"url":"http:\/\/[^/"]+(\/media\/[^"]+)"/.exec(text)?.[1]
  if (media) pools.add("mediaUrl", media)
}

/** Headers that are rarely sent, by chance: none in most requests. Only those that HTTP can carry. */
export const strangeHeaders: Arbitrary<Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 85 },
  {
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { accept: "text/html" },
      { accept: "application/graphql-response+json" },
      { accept: "application/xml;q=0.1" },
      { accept: ",;=//*" },
      { accept: `application/json;a="${"x".repeat(4_000)}"` },
      { "accept-encoding": "gzip, br;q=2, nothing" },
      { "x-request-id": "a b" },
      { "x-request-id": "x".repeat(500) },
      { "x-request-id": "\u00ff\u00fe" },
      { "idempotency-key": "key" },
      { "idempotency-key": "x".repeat(3_000) },
      { "idempotency-key": "\u00e9\u00ff" },
      { origin: "null" },
      { origin: "https://example.com", "access-control-request-method": "PATCH" },
      { "x-forwarded-for": "not an address, ::1, 999.1.1.1" },
      { "x-forwarded-for": "::ffff:10.0.0.1" },
      { "x-forwarded-for": "" },
      { "x-forwarded-host": "evil.example", "x-forwarded-proto": "javascript" },
      { host: "evil.example:99999" },
      { range: "bytes=0-0,5-,-9" },
      { "if-none-match": "*" },
      { "if-modified-since": "never" },
      { "content-type": "application/json; charset=utf-16" },
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "content-type": "multipart/form-data" },
      { "content-type": "application/json; charset=nothing" },
      { "content-type": "application/\u00ff" },
      { "content-encoding": "gzip" },
      { "content-encoding": "br" },
      { "content-encoding": "nothing" },
      { traceparent: "00-zz-zz-zz" },
      { "upgrade-insecure-requests": "1", "sec-fetch-mode": "navigate" },
      { expect: "100-continue" },
    ),
    weight: 15,
  },
)
