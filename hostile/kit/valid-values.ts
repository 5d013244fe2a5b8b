import fc, { type Arbitrary } from "fast-check"
import { eventQueries } from "./event-queries.js"
import { Ref } from "./pools.js"
import type { Shape } from "./shapes.js"

/** Texts that must have a certain form, by the name of their field. */
const texts: Record<string, Arbitrary<unknown>> = {
  filter: fc.constantFrom(
    "unread:eq:true",
    "messenger:in:widget,playground;isUnderAiControl:eq:false",
    "createdAt:between:2026-01-01,2026-12-31",
    "phoneNumber:like:49",
    "chatType:eq:private",
  ),
  managerId: fc.oneof(fc.constantFrom("me", "null"), reference("User")),
  cursor: reference("cursor"),
  after: reference("cursor"),
  email: reference("email"),
  password: reference("password"),
  refreshToken: reference("refreshToken"),
  visitorToken: reference("visitorToken"),
  language: fc.constantFrom("en", "de", "pt-BR"),
  provider: fc.constant("simulated"),
  color: fc.constantFrom("#abc", "#a1b2c3"),
  phoneNumber: fc.constant("+4915112345678"),
  fromId: fc.constant("playground"),
  messageId: fc.nat(50).map((n) => `message-${n}`),
  idempotencyKey: fc.nat(50).map((n) => `key-${n}`),
  // Nothing listens there, and the server must not call it.
  apiCallUrl: fc.constant("http://127.0.0.1:9/tool"),
  resourceUrl: fc.constant("http://127.0.0.1:9/page"),
  url: fc.constant("http://127.0.0.1:9/events"),
  issuer: fc.constant("https://auth.example.com"),
  query: fc.oneof(
    { arbitrary: fc.constantFrom("{ id type payload }", "When do you open?"), weight: 2 },
    { arbitrary: eventQueries, weight: 3 },
  ),
  include: fc.constantFrom("lastMessage", "assistant,manager"),
  gte: day(),
  lte: day(),
  between: day(),
  eq: fc.constantFrom("me", "null"),
  in: fc.constantFrom("me", "null"),
}

/** Numbers whose range the schema does not state. */
const ranges: Record<string, [min: number, max: number]> = {
  temperature: [0, 2],
  chunkSize: [200, 2_000],
  chunkOverlap: [0, 50],
  skip: [0, 20],
  timeoutSeconds: [1, 5],
}

const schemaOfTool = {
  type: "object",
  properties: { order: { type: "string", minLength: 1 }, count: { type: "integer" } },
  required: ["order"],
}

/** JSON that must have a certain form, by the name of its field. */
const json: Record<string, Arbitrary<unknown>> = {
  params: fc.constantFrom<unknown>(schemaOfTool, { order: "A-1", count: 2 }),
  headers: fc.constantFrom<unknown>({ Authorization: "Bearer token" }, {}),
}

/** Values of a shape that a well-meaning client would send; IDs are references. */
export function validOf(shape: Shape): Arbitrary<unknown> {
  switch (shape.kind) {
    case "id":
      return reference(shape.of, shape.isDeleted)
    case "choice":
      return fc.constantFrom(...(shape.name === "kind" ? shape.values.slice(0, 1) : shape.values))
    case "number":
      return numberOf(shape)
    case "boolean":
      return fc.boolean()
    case "time":
      return fc.nat(1_000_000).map((seconds) => new Date(Date.now() + 60_000 + seconds * 1_000).toISOString())
    case "json":
      return json[shape.name] ?? fc.jsonValue({ maxDepth: 2 })
    case "file":
      return fc.constant(null)
    case "list":
      return fc.array(validOf(shape.item), { maxLength: 3 })
    case "text":
      return texts[shape.name] ?? wordsOf(shape.min, shape.max)
    case "object":
      return objectOf(shape)
  }
}

/** Fields that the schema does not require, but the usual kind of the object does. */
const needed = ["resourceContent", "apiCallUrl", "email", "password"]

function objectOf({ fields }: Extract<Shape, { kind: "object" }>): Arbitrary<unknown> {
  const required = Object.keys(fields).filter((name) => fields[name]!.isRequired || needed.includes(name))
  const values = Object.fromEntries(Object.entries(fields).map(([name, { shape }]) => [name, validOf(shape)]))
  // Most optional fields are left out, since many exclude each other.
  const chosen = fc.array(fc.constantFrom(...Object.keys(fields), ""), { maxLength: 3 })
  return fc
    .tuple(fc.record(values), chosen)
    .map(([all, names]) => Object.fromEntries(Object.entries(all).filter(([name]) => required.includes(name) || names.includes(name))))
}

function numberOf({ name, isWhole, min, max }: Extract<Shape, { kind: "number" }>): Arbitrary<number> {
  const [from, to] = ranges[name] ?? [min ?? 1, max ?? 60]
  return isWhole ? fc.integer({ min: from, max: to }) : fc.double({ min: from, max: to, noNaN: true })
}

const wordsOf = (min: number, max: number) => fc.nat(100_000).map((n) => `words_${n}_`.padEnd(min, "x").slice(0, Math.max(1, max)))

function reference(kind: string, isDeleted = false): Arbitrary<Ref> {
  return fc.nat(10_000).map((n) => new Ref(kind, n, isDeleted ? "spare" : "ours"))
}

function day(): Arbitrary<string> {
  return fc.constantFrom("2026-01-01", "2026-11-22")
}
