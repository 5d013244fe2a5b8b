import fc, { type Arbitrary } from "fast-check"

/** Selections on an event that endpoints may store. */
const selections = [
  "{ id type createdAt payload }",
  "{ __typename type message { id text role createdAt } }",
  "{ message { ...m } chat { id name messenger isUnderAiControl } } fragment m on Message { id text }",
  "{ type chat { ... on Chat { id: name name: id } } }",
  "query Named { id }",
]

/** Selections that read more than what is stored, of other kinds, out of bounds, or no documents. */
const refused = [
  "{ chat { assistant { prompt apiKeys { token } } } }",
  "{ chat { company { users { email } } } }",
  "{ message { chat { messages { nodes { text } } } } }",
  '{ company(id: "019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c") { name } }',
  "{ __schema { types { name } } }",
  '{ __type(name: "Event") { name } }',
  "mutation { deleteChat(id: 1) }",
  "subscription { events { id } }",
  "{ id } { type }",
  "query A { id } query B { id }",
  "query ($a: Boolean!) { id @include(if: $a) }",
  "query @skip(if: true) { id }",
  "{ id @skip(if: true) }",
  "{ ...f } fragment f on Event { ...f }",
  "{ ...a } fragment a on Event { ...b } fragment b on Event { ...a }",
  "{ ...missing }",
  "{ id } fragment unused on Event { id }",
  "{ ... on Chat { id } }",
  "{ payload { id } }",
  "{ chat }",
  "{ constructor }",
  "{ __proto__ }",
  "{ id(a: 1) }",
  "type Event { id: ID }",
  "extend type Event { b: Int }",
  "\uFEFF{ id }",
  `{ ${"a: id ".repeat(5_000)} }`,
  `{ ${Array.from({ length: 3_000 }, (_, n) => `a${n}: payload`).join(" ")} }`,
  `{ ${"chat { ".repeat(300)} id ${"} ".repeat(300)} }`,
  `{ ${"... { ".repeat(2_000)} id ${"} ".repeat(2_000)} }`,
  `{ ${"{".repeat(20_000)} }`,
  `{ id } ${Array.from({ length: 500 }, (_, n) => `fragment f${n} on Event { ...f${(n + 1) % 500} }`).join(" ")}`,
  `{ id } # ${"x".repeat(60_000)}`,
  "{",
  "",
  "\u0000",
]

/** What an endpoint for events may ask to be sent: selections that are stored, and those that are refused. */
export const eventQueries: Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...selections), weight: 2 },
  { arbitrary: fc.constantFrom(...refused), weight: 1 },
)
