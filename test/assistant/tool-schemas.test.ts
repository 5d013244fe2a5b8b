import { fullFormats } from "ajv-formats/dist/formats.js"
import fc from "fast-check"
import recheck from "recheck/lib/browser.js"
import { assistantLimits } from "../../src/assistant/limits.js"
import { linearFormats, sizeOf, weightOfPlain } from "../../src/assistant/schema-bounds.js"
import { pace } from "../kit/pace.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { properties, type Schema, schemaTools } from "../kit/schema-tools.js"
import { world } from "../kit/world.js"

let endpoint: Receiver
beforeAll(async () => {
  endpoint = await receiver()
})
afterAll(() => endpoint.close())

const w = world()
const { globex } = w
const { create, given, newCompany, test } = schemaTools(w, () => endpoint.url)

/** A schema with so many levels of subschemas, the schema itself included. */
const levels = (number: number): Schema => (number === 1 ? {} : { properties: { a: levels(number - 1) } })
describe("the limits of params", () => {
  const bytes = (number: number) => ({ description: "x".repeat(number - JSON.stringify({ type: "object", description: "" }).length) })

  it.each<[string, Schema, Schema, string]>([
    ["64 KB", bytes(64 * 1024), bytes(64 * 1024 + 1), "at most 65536 bytes"],
    ["10 levels", levels(10), levels(11), "at most 10 levels of subschemas"],
    ["200 subschemas", { properties: properties(200) }, { properties: properties(201) }, "at most 200 subschemas"],
    [
      "200 subschemas in lists and below unknown keywords",
      { anyOf: Array(100).fill(true), "x-more": Array(100).fill({}) },
      { anyOf: Array(100).fill(true), "x-more": Array(101).fill({}) },
      "at most 200 subschemas",
    ],
  ])("%s are accepted, more are 400 and named", async (_which, most, more, words) => {
    await create(most).expect(201)
    const { body } = await create(more).expect(400)
    expect(body).toMatchObject({ code: "BAD_USER_INPUT", details: [{ message: expect.stringContaining(words) }] })
  })

  it("do not count data: values of enum, const, default and examples", async () => {
    const data = Array.from({ length: 300 }, (_, at) => ({ a: { b: { c: { at } } } }))
    await create({ properties: { a: { enum: data, default: data[0], examples: data } } }).expect(201)
  })
})

describe("patterns", () => {
  it.each(["^(a+)+$", "^(a|a)*$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "^(\\w+\\s?)*$", "^(?=(a+)+$)b", "(x+x+)+y"])(
    "of exponential cost are 400: %s",
    async (pattern) => {
      for (const schema of [
        { properties: { a: { type: "string", pattern } } },
        { patternProperties: { [pattern]: {} } },
        // A reference makes a schema of what else is data.
        { examples: [{ pattern }], properties: { a: { $ref: "#/examples/0" } } },
      ]) {
        const { body } = await create(schema).expect(400)
        expect(body.details[0].message).toContain("pattern whose cost is exponential")
      }
    },
  )

  it.each([
    ["^[a-z0-9]+(-[a-z0-9]+)*$", "a-b-c", "a--b"],
    ["^\\+[1-9]\\d{1,14}$", "+4930123", "4930"],
    ["^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", "a@b.example", "a@b"],
    ["^(?=.*\\d)(?=.*[a-z]).{8,}$", "abcdefg1", "abcdefgh"],
    ["^(\\d{4})-\\1$", "1234-1234", "1234-4321"],
    ["^\\p{Lu}\\p{L}*$", "Ärger", "ärger"],
    ["^(https?)://[^/]+/", "https://a.example/", "ftp://a.example/"],
    ['^"[\\\\/]`\\$x$', '"/`$x', "x"],
  ])("of other cost are checked: %s", async (pattern, good, bad) => {
    const { body } = await create({ properties: { a: { type: "string", pattern } } }).expect(201)
    await test(body.id, { a: good }).expect(201)
    expect((await test(body.id, { a: bad }).expect(400)).body.details).toEqual([
      { path: "params.a", message: `must match pattern "${pattern}"` },
    ])
  })
})

describe("schemas of several companies", () => {
  const order = (type: string) => ({
    $id: "https://shop.example/order",
    properties: { at: { $id: "/part", type }, also: { $ref: "/part" } },
  })

  it("with the same $id are independent", async () => {
    const [ours, theirs] = [(await create(order("string")).expect(201)).body, (await create(order("integer"), globex).expect(201)).body]
    const testTheirs = (params: unknown) => test(theirs.id, params, globex)
    for (let turn = 0; turn < 2; turn++) {
      await test(ours.id, { also: "x" }).expect(201)
      await test(ours.id, { also: 1 }).expect(400)
      await testTheirs({ also: 1 }).expect(201)
      await testTheirs({ also: "x" }).expect(400)
    }
    // One company's identifiers are not known to another's schema.
    await create({ properties: { a: { $ref: "https://shop.example/order" } } }, globex).expect(400)
  })

  it.each<[string, Schema]>([
    ["a remote reference", { $ref: "https://shop.example/schema.json" }],
    ["a remote reference of a meta-schema", { $ref: "http://json-schema.org/draft-07/schema#" }],
    ["a reference to a file", { $ref: "file:///etc/passwd" }],
    ["$async below", { $defs: { a: { $async: true, $id: "a" } }, properties: { a: { $ref: "a" } } }],
    ["$data", { properties: { a: { type: "number" }, b: { minimum: { $data: "1/a" } } } }],
    ["a $id that is none", { $id: "#a b" }],
    [
      "one $id twice",
      { properties: { a: { $id: "https://a.example/", type: "string" }, b: { $id: "https://a.example/", type: "number" } } },
    ],
  ])("with %s are 400", async (_what, schema) => {
    const { body } = await create(schema).expect(400)
    expect(body.details[0].message).toContain("is no valid JSON Schema")
  })

  it("cannot put code into the validators", async () => {
    const code = `"]);globalThis.injected=1;//'\`\${globalThis.injected=1}\n\u2028*/globalThis.injected=1/*`
    const escaped = code.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    const schema = {
      $comment: code,
      $id: `https://a.example/${encodeURIComponent(code)}`,
      code,
      macro: code,
      compile: code,
      instanceof: code,
      $defs: { [code]: { const: code, title: code } },
      properties: {
        [code]: { enum: [code], format: code, default: code, pattern: escaped },
      },
      required: [code],
      dependentRequired: { [code]: [code] },
      errorMessage: code,
    }
    const { body } = await create(schema).expect(201)
    await test(body.id, { [code]: code }).expect(201)
    await test(body.id, { [code]: "x" }).expect(400)
    await test(body.id, {}).expect(400)
    expect(globalThis).not.toHaveProperty("injected")
  })
})

describe("plain params, which are checked in the server itself", () => {
  it("have no references, patterns, alternatives or comparisons of items", () => {
    const plain = { type: "object", properties: { a: { type: "array", items: { enum: ["x", "y"], format: "date" } } }, required: ["a"] }
    expect(weightOfPlain(plain)).toBe(11)
    for (const part of [
      { $ref: "#" },
      { $dynamicRef: "#a" },
      { pattern: "a" },
      { patternProperties: {} },
      { uniqueItems: true },
      { contains: {} },
      { anyOf: [{}] },
      { oneOf: [{}] },
      { allOf: [{}] },
      { not: {} },
      { if: {} },
      { items: [{}] },
      { unevaluatedProperties: false },
      { propertyNames: {} },
      { dependentSchemas: {} },
      { enum: [{}] },
      { const: 1 },
      { format: "uri" },
      { $id: "a" },
      { unknown: 1 },
    ]) {
      expect([part, weightOfPlain(part)]).toEqual([part, null])
      expect([part, weightOfPlain({ properties: { a: { items: part } } })]).toEqual([part, null])
    }
  })

  it("are given to a schema process with large arguments, with the same result", async () => {
    const { body } = await create({ properties: { a: { items: { type: "integer" } } }, required: ["b"] }).expect(201)
    for (const many of [10, 50_000]) {
      const { details } = (await test(body.id, { a: [...Array(many).fill(1), "x"] }).expect(400)).body
      expect(details).toEqual([
        { path: "params.b", message: "must have required property 'b'" },
        { path: `params.a.${many}`, message: "must be integer" },
      ])
    }
    expect(sizeOf(Array(50_000).fill(1), 100)).toBeLessThan(50_000)
  })
})

describe("any schema", () => {
  const keyword = fc.constantFrom(
    ..."$ref $dynamicRef $id $anchor $dynamicAnchor $schema $async $defs definitions allOf anyOf oneOf not if then else items prefixItems contains minContains uniqueItems properties patternProperties additionalProperties propertyNames dependentSchemas dependentRequired dependencies required enum const pattern format minLength multipleOf unevaluatedProperties unevaluatedItems type formatMinimum nullable discriminator x-own".split(
      " ",
    ),
  )
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "#",
      "#/$defs/a",
      "#a",
      "a",
      "/",
      "string",
      "object",
      "date",
      "(a+)+$",
      "(?:a|b)*c",
      "\\",
      "[",
      "__proto__",
      "https://a.example/a",
    ),
  )
  const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
    schema: fc.dictionary(keyword, tie("value"), { maxKeys: 4, depthIdentifier: "schema" }),
    value: fc.oneof(
      { maxDepth: 5, depthIdentifier: "schema", withCrossShrink: true },
      word,
      fc.boolean(),
      fc.integer(),
      tie("schema"),
      fc.array(tie("schema"), { maxLength: 3 }),
      fc.array(word, { maxLength: 3 }),
      fc.dictionary(word, tie("schema"), { maxKeys: 3 }),
    ),
  }))

  it("is accepted or 400, in time, and arguments are checked against it", async () => {
    const company = await newCompany()
    const make = "mutation ($input: CreateAssistantToolInput!) { createAssistantTool(input: $input) { id } }"
    const run = "mutation ($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success } }"
    const args = fc.dictionary(fc.constantFrom("a", "b", "date"), fc.jsonValue({ maxDepth: 2 }))
    let [accepted, longest] = [0, 0]
    await fc.assert(
      fc.asyncProperty(schema, args, async (parts, params) => {
        const input = { ...given({ ...(parts as Schema), type: "object" }, company) }
        const begin = performance.now()
        const made = await w.gql(company.token, make, { input })
        expect([200, 400]).toContain(made.errors?.[0]?.extensions.statusCode ?? made.status)
        if (made.data?.createAssistantTool) {
          accepted += 1
          const ran = await w.gql(company.token, run, { id: made.data.createAssistantTool.id, params })
          expect([200, 400]).toContain(ran.errors?.[0]?.extensions.statusCode ?? ran.status)
        }
        longest = Math.max(longest, performance.now() - begin)
      }),
      { numRuns: 100 },
    )
    expect(accepted).toBeGreaterThan(10)
    await pace("any schema is checked", (2 * assistantLimits.schemaTaskMs + 10_000) / 4, "ms", () => longest)
  })
})

// Last, since it delays all requests of this process.
describe("formats of plain params", () => {
  it("have patterns that take linear time", () => {
    const patterns = linearFormats.flatMap((name) => {
      const format = (fullFormats as Record<string, unknown>)[name]
      return format instanceof RegExp ? [format] : []
    })
    expect(patterns.length).toBeGreaterThan(2)
    for (const { source, flags } of patterns) expect([source, recheck.checkSync(source, flags)]).toMatchObject([source, { status: "safe" }])
  })
})
