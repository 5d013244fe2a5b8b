import fc, { type Arbitrary } from "fast-check"
import { isPlain, Ref } from "./pools.js"

/** Stands for a field that is left out. */
const missing = Symbol("missing")

const wrongTypes = [null, true, false, 0, -1, 1.5, "", [], {}, [[]], [null], { a: 1 }, "null", "true", "[object Object]"]

const extremes = [
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53 + 1,
  1e308,
  -1e308,
  5e-324,
  -0,
  "9".repeat(400),
  "1e2",
  "0x10",
  "-1",
  "NaN",
  "Infinity",
  "٣",
  "0000-01-01",
  "0000-01-01T00:00:00.000Z",
  "2026-02-30",
  "2026-13-01T25:61:61Z",
  "275760-09-13T00:00:00.001Z",
  "-271821-04-20",
  "9999-12-31T23:59:59.999999999Z",
]

const unicode = [
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "x\udfff",
  "\u202Eright to left\u202C",
  "\u200B\u200D\uFEFF",
  "\uFFFE\uFFFF",
  "e\u0301\u0301\u0301".repeat(50),
  "👩‍👩‍👧‍👦".repeat(30),
  "ﷺ".repeat(100),
  "ẞßİıſ",
  "\u2028\u2029\u0085",
  "\r\n\r\nHTTP/1.1 200 OK",
  "\u001b[31m",
  "😀".repeat(101),
]

const injections = [
  "'; drop table chat; --",
  "\\' or 1=1 --",
  "$1",
  "%",
  "_%\\",
  "../../../../etc/passwd",
  "..%2f..%2f",
  "{{constructor}}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an injection
  "${process.exit(1)}",
  "__proto__",
  "constructor",
  "toString",
  "<script>alert(1)</script>",
  "http://169.254.169.254/latest/meta-data",
  "http://[::1]:1/",
  "http://0x7f000001/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "http://user:password@127.0.0.1:9/",
  "(a+)+$",
  `messenger:in:${"widget,".repeat(2_000)}`,
  `phoneNumber:like:${"%".repeat(400)}`,
  "createdAt:between:0000-01-01,9999-99-99",
  "unread:eq:true;".repeat(500),
]

const badIds = [
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "01890000-0000-7000-8000-00000000000",
  "{01890000-0000-7000-8000-000000000000}",
  "01890000000070008000000000000000",
  "not-a-uuid",
]

/** An object or a list that is nested this deep. */
function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = isList ? [value] : { a: value }
  return value
}

const prototypes: unknown[] = [
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":true}}}'),
  { toString: 1, valueOf: 2, hasOwnProperty: 3 },
  { length: 1e9 },
  JSON.parse('{"then":"now"}'),
  { toJSON: 1 },
]

/** JSON Schemas of a tool that are wrong, strange or hard to compile. */
const schemas: unknown[] = [
  { type: "object", properties: { a: { $ref: "#" } } },
  { type: "object", properties: { a: { $ref: "http://169.254.169.254/schema" } } },
  { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } },
  { type: "object", properties: { a: { type: "string", pattern: "[" } } },
  { type: "object", $async: true },
  { type: "object", $schema: "http://json-schema.org/draft-04/schema#", $id: "x" },
  { type: "object", allOf: Array.from({ length: 100 }, () => ({ not: { not: {} } })) },
  { type: ["object", "null"] },
]

const ids = [
  "Company",
  "Chat",
  "Message",
  "Assistant",
  "AssistantTool",
  "Knowledge",
  "ChatFolder",
  "ChatTag",
  "Media",
  "User",
  "AccessToken",
]

/** Kinds of which nothing can be deleted, so that a deletion of the wrong kind deletes nothing that the campaign needs. */
const undeletable = ["Company", "User", "TextModel", "ToolCall", "Channel", "cursor"]

/** Values of the other company, and values of the wrong kind. */
const references: Arbitrary<Ref> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...ids).map((kind) => ({ kind, owner: "foreign" as const })),
      fc.constantFrom(...undeletable).map((kind) => ({ kind, owner: "ours" as const })),
    ),
    fc.nat(1_000),
  )
  .map(([{ kind, owner }, n]) => new Ref(kind, n, owner))

/** Large values are rare: the campaign is about requests, not about bandwidth. */
const huge: Arbitrary<unknown> = fc
  .constantFrom<(() => unknown)[]>(
    () => "x".repeat(16_001),
    () => "x".repeat(200_000),
    () => "😀".repeat(20_000),
    () => "\u0000".repeat(1_000),
    () => "\ud800".repeat(5_000),
    () => Array.from({ length: 5_000 }, (_, index) => index),
    () => Array.from({ length: 2_000 }, () => badIds[0]),
    () => Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index])),
    () => nested(1_000, true),
    () => nested(1_000, false),
    () => nested(70, false),
  )
  .map((make) => make())

/** One hostile value: of a wrong type, extreme, badly encoded, foreign, huge, deep, repeated, or none. */
export const hostileValue: Arbitrary<unknown> = fc.oneof(
  { arbitrary: fc.constantFrom<unknown[]>(...wrongTypes), weight: 20 },
  { arbitrary: fc.constantFrom<unknown[]>(...extremes), weight: 15 },
  { arbitrary: fc.constantFrom(...unicode), weight: 15 },
  { arbitrary: fc.string({ unit: "binary", maxLength: 40 }), weight: 10 },
  { arbitrary: fc.constantFrom(...injections), weight: 15 },
  { arbitrary: fc.constantFrom(...badIds), weight: 8 },
  { arbitrary: fc.constantFrom(...prototypes, ...schemas), weight: 8 },
  { arbitrary: references, weight: 15 },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 5 },
  { arbitrary: fc.double(), weight: 3 },
  { arbitrary: fc.constant(missing), weight: 8 },
  { arbitrary: huge, weight: 2 },
)

/** Valid values in which one or two places are hostile; `depth` levels from the top are kept as they are. */
export const withHostile = <T>(valid: Arbitrary<T>, depth = 0): Arbitrary<T> =>
  fc
    .tuple(valid, fc.array(fc.tuple(fc.nat(10_000), hostileValue), { minLength: 1, maxLength: 2 }))
    .map(([value, changes]) => changes.reduce<unknown>((changed, [n, hostile]) => changedAt(changed, n, hostile, depth), value) as T)

type Path = (string | number)[]

/** All places below a value that hold a value. */
function placesIn(value: unknown, path: Path = []): Path[] {
  const entries = Array.isArray(value) ? [...value.entries()] : isPlain(value) ? Object.entries(value) : []
  return entries.flatMap(([name, item]) => [[...path, name], ...(path.length < 6 ? placesIn(item, [...path, name]) : [])])
}

function changedAt(value: unknown, n: number, hostile: unknown, depth: number): unknown {
  const places = placesIn(value).filter((path) => path.length > depth)
  return places.length === 0 ? value : replaced(value, places[n % places.length]!, hostile)
}

function replaced(value: unknown, [name, ...rest]: Path, hostile: unknown): unknown {
  if (name === undefined) return hostile
  if (Array.isArray(value)) return value.with(name as number, replaced(value[name as number], rest, hostile))
  const { [name as string]: old, ...others } = value as Record<string, unknown>
  if (rest.length === 0 && hostile === missing) return others
  return { ...others, [name]: replaced(old, rest, hostile) }
}
