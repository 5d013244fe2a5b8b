import fc, { type Arbitrary } from "fast-check"
import { anyCredential, type Generated, harvest, single, strangeHeaders } from "./generated.js"
import { Ref } from "./pools.js"

/** The length to which a generated address is cut. */
const longest = 6_000

/** Characters that a request line cannot carry are percent-encoded; everything else is sent as it is. */
const sendable = (path: string) => path.replace(/[^\x21-\xff]/g, (letter) => encodeURIComponent(letter.toWellFormed())).slice(0, longest)

const tamper = fc.constantFrom<((path: string) => string)[]>(
  (path) => path,
  (path) => path,
  (path) => path,
  (path) => path.replace(/expires=\d+/, "expires=9999999999"),
  (path) => path.replace(/expires=\d+/, "expires=1e99"),
  (path) => path.replace(/expires=/, "expires=-"),
  (path) => path.replace(/signature=.*/, "signature="),
  (path) => path.replace(/signature=.*/, "signature=%00"),
  (path) => path.replace(/signature=(..).*/, "signature=$1&signature=b"),
  (path) => `${path}&expires=1`,
  (path) => path.replace(/media\/./, "media/g"),
  (path) => path.replace(/media\/[^?]+/, "media/..%2f..%2fpackage.json"),
  (path) => path.replace(/media\/[^?]+/, "media/%ff"),
  (path) => path.split("?")[0]!,
  (path) => path.toUpperCase(),
)

const ranges = [
  "bytes=0-0",
  "bytes=-1",
  "bytes=5-2",
  "bytes=999999999999999999999-",
  "bytes=-99999999999999999999",
  "bytes=0-,1-",
  "lines=1",
  "bytes=a-b",
]

/** Files at signed addresses, whole and in parts, and at addresses that were changed. */
export const mediaRequests: Arbitrary<Generated> = fc
  .tuple(
    fc.nat(1_000),
    tamper,
    fc.option(fc.constantFrom(...ranges)),
    fc.constantFrom("GET", "GET", "GET", "HEAD", "POST", "DELETE"),
    strangeHeaders,
  )
  .map(([n, change, range, method, headers]) =>
    single({
      build: ({ company: { pools } }) => ({
        key: "Signed files",
        credential: "none",
        method,
        path: change(pools.valueOf(new Ref("mediaUrl", n))).replace(/^(?!\/)/, "/media/"),
        headers: { ...headers, ...(range && { range }) },
      }),
    }),
  )

const paths = [
  "/",
  "/api/docs",
  "/api/openapi.json",
  "/graphql/schema.graphql",
  "/graphql",
  "/health/live",
  "/health/ready",
  "/metrics",
  "/widget.js",
  "/demo",
  "/widget/019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c",
  "/favicon.ico",
  "/nothing",
  "//",
  "//[",
  "/%",
  "/%ff%fe",
  "/%00",
  "/..%2f..%2fetc%2fpasswd",
  "/../../package.json",
  "/api/chats/../../graphql",
  "/API/CHATS",
  "/api/chats/",
  "/api//chats",
  "/api/chats;a=b",
  "/api/__proto__",
  "/api/chats/%e2%28%a1",
  "/?".padEnd(4_000, "a"),
  "/a".repeat(2_000),
  "http://evil.example/api/chats",
  "*",
]

const methods = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "REPORT"]

/** Pages, documents, unknown addresses and unsupported methods. */
export const pathRequests: Arbitrary<Generated> = fc
  .tuple(
    fc.oneof(
      { arbitrary: fc.constantFrom(...paths), weight: 3 },
      { arbitrary: fc.string({ unit: "binary", maxLength: 30 }).map((text) => `/${text}`), weight: 1 },
    ),
    fc.constantFrom(...methods),
    anyCredential,
    strangeHeaders,
  )
  .map(([path, method, credential, headers]) =>
    single({
      build: () => ({ key: "Pages and paths", credential, method, path: sendable(path), headers }),
      learn: (client, { text }) => harvest(client, text),
    }),
  )
