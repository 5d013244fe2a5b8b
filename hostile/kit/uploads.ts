import fc, { type Arbitrary } from "fast-check"
import type { CredentialName } from "./company.js"
import { anyCredential, type Generated, harvest, single, strangeHeaders } from "./generated.js"

/** A part of a multipart body. */
interface Part {
  name: string
  /** A part with one is a file. */
  filename?: string
  type?: string
  content: string | Buffer
}

const boundary = "----hostile"

/** A multipart body that is written by hand, since a library would refuse to write most of these. */
function multipart(parts: Part[]): Buffer {
  const written = parts.flatMap(({ name, filename, type, content }) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type ? `Content-Type: ${type}\r\n` : ""}\r\n`
    return [Buffer.from(head), Buffer.from(content as string), Buffer.from("\r\n")]
  })
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)])
}

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")

const names = [
  "a.txt",
  "a.png",
  "",
  "a".repeat(3_000),
  "../../a.txt",
  "a\u0000.txt",
  "\u202Etxt.exe",
  "日本語.pdf",
  "%00%ff",
  'a\\".txt',
  "con",
  ".",
  "💣.svg",
]
const contents: (string | Buffer)[] = [
  "A plain text",
  "A plain text",
  "",
  png,
  png.subarray(0, 20),
  "%PDF-1.7 broken",
  Buffer.from("504b030414000000", "hex"),
  "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
  "<html><script>alert(1)</script></html>",
  Buffer.from("4d5a9000", "hex"),
  Buffer.alloc(300_000, "x"),
  Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
]
const types = [
  "text/plain",
  "image/png",
  "application/pdf",
  "application/octet-stream",
  "text/html",
  "x",
  "",
  "multipart/mixed; boundary=a",
  "\u00ff/\u00ff",
]

const file: Arbitrary<Part> = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...contents), fc.constantFrom(...types))
  .map(([filename, content, type]) => ({ name: "file", filename, content, type }))
const plain: Arbitrary<Part> = fc.constantFrom({ name: "file", filename: "a.txt", type: "text/plain", content: "A plain text" })
const other: Arbitrary<Part> = fc.constantFrom<Part[]>(
  { name: "other", content: "x" },
  { name: "__proto__", content: "x" },
  { name: "file", content: "not a file" },
  { name: "", content: "" },
  { name: "operations", content: "{}" },
  { name: "x".repeat(2_000), content: "x".repeat(50_000) },
)

type Damage = (body: Buffer) => Buffer

/** What happens to a body on its way: nothing most often. */
const damage: Arbitrary<Damage> = fc.oneof(
  { arbitrary: fc.constant<Damage>((body) => body), weight: 8 },
  {
    arbitrary: fc.nat(2_000).map(
      (length): Damage =>
        (body) =>
          body.subarray(0, length),
    ),
    weight: 1,
  },
  {
    arbitrary: fc.constantFrom<Damage[]>(
      (body) => Buffer.concat([body, body]),
      (body) => Buffer.from(body.toString("latin1").replaceAll("\r\n", "\n"), "latin1"),
      (body) => Buffer.from(body.toString("latin1").replace("name=", "nothing="), "latin1"),
      (body) => Buffer.from(body.toString("latin1").replace("Content-Disposition", "x".repeat(20_000)), "latin1"),
      () => Buffer.from(`--${boundary}--`),
      () => Buffer.alloc(0),
    ),
    weight: 1,
  },
)

const contentTypes = fc.oneof(
  { arbitrary: fc.constant(`multipart/form-data; boundary=${boundary}`), weight: 15 },
  {
    arbitrary: fc.constantFrom(
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary=${"x".repeat(300)}`,
      `multipart/mixed; boundary=${boundary}`,
      'multipart/form-data; boundary="\u00ff"',
      "application/json",
    ),
    weight: 1,
  },
)

/** A visitor's files belong to its own messages; members and tokens may use the company's. */
const kindOf = (credential: CredentialName) => (credential === "visitor" ? "VisitorMedia" : "Media")

/** Uploads over REST. */
const restUploads: Arbitrary<Generated> = fc
  .tuple(
    fc.oneof({ arbitrary: fc.tuple(plain), weight: 3 }, { arbitrary: fc.array(fc.oneof(file, other), { maxLength: 3 }), weight: 7 }),
    damage,
    contentTypes,
    anyCredential,
    strangeHeaders,
  )
  .map(([parts, change, type, credential, headers]) =>
    single({
      build: () => ({
        key: "REST POST /api/media/upload",
        credential,
        method: "POST",
        path: "/api/media/upload",
        headers: { ...headers, "content-type": type },
        body: change(multipart(parts)),
      }),
      learn(client, answer) {
        if (answer.status === 201) client.company.pools.add(kindOf(credential), answer.body.id)
        harvest(client, answer.text)
      },
    }),
  )

const query = "mutation ($file: Upload!) { uploadMedia(file: $file) { id url filename mimeType } }"
const operations = [
  JSON.stringify({ query, variables: { file: null } }),
  JSON.stringify({ query, variables: { file: null } }),
  JSON.stringify({ query, variables: { file: null } }),
  JSON.stringify({ query }),
  JSON.stringify({ query, variables: { file: "text" } }),
  JSON.stringify([{ query, variables: { file: null } }]),
  '{"query":"{ __typename }","variables":{"__proto__":{"a":null},"file":null}}',
  "null",
  "{",
  "",
  `{"query":"{ __typename }","variables":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
]
const targets = [
  "variables.file",
  "variables.file",
  "variables.file",
  "variables.__proto__.a",
  "toString.call",
  "__proto__.polluted",
  "constructor.prototype.polluted",
  "variables.file.push.call",
  "query",
  "0.variables.file",
  "",
  ".",
  "variables..file",
]
const maps: Arbitrary<string> = fc.oneof(
  {
    arbitrary: fc.array(fc.constantFrom(...targets), { minLength: 1, maxLength: 3 }).map((paths) => JSON.stringify({ 0: paths })),
    weight: 5,
  },
  { arbitrary: fc.constant('{"0":["variables.file"]}'), weight: 4 },
  {
    arbitrary: fc.constantFrom(
      "null",
      "[]",
      "{}",
      "{",
      '{"0":"variables.file"}',
      '{"0":[null]}',
      '{"__proto__":["variables.file"]}',
      '{"0":[],"1":["variables.file"]}',
    ),
    weight: 2,
  },
)

/** Uploads by the GraphQL multipart request specification, with maps that lead elsewhere. */
const graphqlUploads: Arbitrary<Generated> = fc
  .tuple(fc.constantFrom(...operations), maps, fc.oneof(plain, file), fc.nat(5), damage, contentTypes, anyCredential)
  .map(([operation, map, part, order, change, type, credential]) => {
    const inOrder: Part[] = [
      { name: "operations", content: operation },
      { name: "map", content: map },
      { ...part, name: "0" },
    ]
    // One in six sends its parts in another order.
    const parts = order === 0 ? inOrder.reverse() : inOrder
    return single({
      build: () => ({
        key: "Mutation.uploadMedia",
        credential,
        method: "POST",
        path: "/graphql",
        headers: { "content-type": type },
        body: change(multipart(parts)),
      }),
      learn(client, answer) {
        const id = answer.body?.data?.uploadMedia?.id
        if (id) client.company.pools.add(kindOf(credential), id)
        harvest(client, answer.text)
      },
    })
  })

/** Uploads of both protocols. */
export const uploadRequests: Arbitrary<Generated> = fc.oneof(restUploads, graphqlUploads)
