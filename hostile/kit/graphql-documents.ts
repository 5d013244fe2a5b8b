import fc, { type Arbitrary } from "fast-check"

/** A body of a GraphQL request that is not one plain operation. */
export type HostileBody = Record<string, unknown> | unknown[] | string

const repeated = (text: (index: number) => string, times: number, separator = " ") =>
  Array.from({ length: times }, (_, index) => text(index)).join(separator)

/** Documents that are hostile as a whole: huge, deep, circular, repeated. */
const documents: (() => string)[] = [
  () => "",
  () => "{",
  () => "}",
  () => "query",
  () => "{ }",
  () => "\uFEFF{ __typename }",
  () => "{ \u0000 }",
  () => "# only a comment",
  () => '{ chat(id: """block\nstring""") { id } }',
  () => '"description" query { __typename }',
  () => "type Query { x: Int } extend schema @a { query: Query }",
  () => `{ ${repeated((n) => `a${n}: __typename`, 1_200)} }`,
  () => `{ ${repeated((n) => `a${n}: chatFolders { id }`, 31)} }`,
  () => `{ ${repeated((n) => `a${n}: chatFolders { id }`, 30)} }`,
  () => `{ ${repeated(() => "__typename", 2_400)} }`,
  () => `{ chats ${"{ nodes ".repeat(20)} ${"}".repeat(20)} }`,
  () => `{${"a{".repeat(2_400)}`,
  () => `{ ${"... on Query { ".repeat(150)} __typename ${"}".repeat(150)} }`,
  () => `{ ${"... on Query { ".repeat(250)} __typename ${"}".repeat(250)} }`,
  () => `query ($a: ${"[".repeat(300)}Int${"]".repeat(300)}) { __typename }`,
  () => `{ chats(filter: ${"[".repeat(1_000)}1${"]".repeat(1_000)}) { totalCount } }`,
  () => `{ ...f0 } ${repeated((n) => `fragment f${n} on Query { ...f${(n + 1) % 200} }`, 200)}`,
  () => `{ ...f0 } ${repeated((n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`, 30)} fragment f30 on Query { __typename }`,
  () => "{ ...missing }",
  () => "{ chatFolders { ...f } } fragment f on ChatFolder { id ...f }",
  () => repeated((n) => `query q${n} { __typename }`, 300),
  () => `query (${repeated((n) => `$v${n}: Int`, 800, ", ")}) { __typename }`,
  () => "query ($a: Int = 1, $a: Int = 2) { __typename }",
  () => "query ($a: Nothing) { chat(id: $a) { id } }",
  () => `{ __typename ${"@skip(if: false) ".repeat(400)} }`,
  () => "{ __typename @skip @include @deprecated @unknown(a: 1) }",
  () => "{ chatFolders { id @skip(if: true) } }",
  () => "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
  () => `{ __type(name: "Chat") { ${"ofType { ".repeat(30)} name ${"}".repeat(30)} } }`,
  () => "{ __type(name: null) { name } }",
  () => "{ a: chats { totalCount } a: assistants { totalCount } }",
  () => `{ chats(first: 100) { nodes { ${repeated((n) => `t${n}: tags { id }`, 60)} } } }`,
  () => `{ ${"x".repeat(100_000)} }`,
  () => `{ chats(search: "${"x".repeat(100_000)}") { totalCount } }`,
  () => "mutation { a: refreshSession(refreshToken: 1) { accessToken } b: refreshSession { accessToken } }",
  () => `mutation { ${repeated((n) => `m${n}: markChatRead(id: "${n}") { id }`, 30)} }`,
  () => "subscription { events { id } answerProgress(chatId: 1) { text } }",
  () => "subscription { a: __typename }",
  () => "{ node(id: 1) { id } _service { sdl } _entities { id } }",
]

const query = "{ chatFolders { id name } }"

/** Bodies that are hostile beside their document. */
const bodies: HostileBody[] = [
  [],
  [{ query }, { query }],
  Array.from({ length: 100 }, () => ({ query })),
  {},
  { query: null },
  { query: 1 },
  { query: [query] },
  { query: { a: query } },
  { query, variables: "text" },
  { query, variables: [] },
  { query, variables: JSON.parse('{"__proto__":{"a":1},"constructor":null}') },
  { query, operationName: "missing" },
  { query, operationName: 1 },
  { query, operationName: "__proto__" },
  { query, extensions: "text" },
  { query, extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } },
  { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } },
  { extensions: { persistedQuery: { version: 2, sha256Hash: ["a"] } } },
  { extensions: { persistedQuery: null } },
  { query, id: "x", documentId: "y", more: { a: 1 } },
  "null",
  "1",
  '"text"',
  "[",
  '{"query":"{ __typename }"',
  '{"query":"{ __typename }"}}',
  '{"query":"\\ud800"}',
  '{"query":"{ __typename }","query":"{ me { id } }"}',
  `{"query":"{ __typename }","a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
  "\u0000",
  "x".repeat(1_048_577),
]

/** Hostile bodies of any kind; also a valid document that is cut or has something inserted. */
export const hostileBody: Arbitrary<HostileBody> = fc.oneof(
  { arbitrary: fc.constantFrom(...documents).map((make) => ({ query: make() })), weight: 6 },
  { arbitrary: fc.constantFrom(...bodies), weight: 3 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom(...documents), fc.nat(3_000), fc.string({ unit: "binary", maxLength: 6 }))
      .map(([make, at, inserted]) => ({ query: make().slice(0, at) + inserted + make().slice(at) })),
    weight: 2,
  },
  {
    arbitrary: fc.tuple(fc.constantFrom(...documents), fc.nat(3_000)).map(([make, length]) => ({ query: make().slice(0, length) })),
    weight: 2,
  },
)
