import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { assistantLimits } from "../../src/assistant/limits.js"
import { ToolSchemas } from "../../src/assistant/tool-schemas.js"
import { duration, pace } from "../kit/pace.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { properties, type Schema, schemaTools } from "../kit/schema-tools.js"
import { type ServerProcess, serverProcess } from "../kit/server-process.js"
import { world } from "../kit/world.js"

let endpoint: Receiver
beforeAll(async () => {
  endpoint = await receiver()
})
afterAll(() => endpoint.close())

let server: ServerProcess | undefined
// Before that of the test server, which drops the database.
afterAll(() => server?.stop())
const w = world()
const { acme, globex } = w
const { create, newCompany, path, stored, test } = schemaTools(w, () => endpoint.url)
let count = 0

/** Definitions of which each refers twice to the one before. */
const doubling = (number: number, last: Schema = {}) => ({
  $defs: Object.fromEntries(
    Array.from({ length: number }, (_, at) => [`d${at}`, at ? { allOf: Array(2).fill({ $ref: `#/$defs/d${at - 1}` }) } : last]),
  ),
  $ref: `#/$defs/d${number - 1}`,
})

describe("a check of arguments that does not end", () => {
  const endless: [string, Schema, unknown][] = [
    ["a pattern", { properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(50)}!` }],
    ["references that branch", doubling(30), {}],
    ["references that branch, with an error at each end", doubling(30, { required: ["a"] }), {}],
    ["a reference to itself", { allOf: [{ $ref: "#" }] }, {}],
    ["a dynamic reference to itself", { $dynamicAnchor: "a", allOf: [{ $dynamicRef: "#a" }] }, {}],
    ["errors of many values", { properties: { a: { items: { required: Object.keys(properties(200)) } } } }, { a: Array(100_000).fill({}) }],
  ]

  it.each(endless)("is stopped: %s", async (what, schema, args) => {
    const company = await newCompany()
    const id = await stored(schema, company)
    const before = endpoint.requests.length
    let body: { details: object[] } = { details: [] }
    await pace(`a check that does not end is stopped: ${what}`, 5_000, "ms", () =>
      duration(async () => {
        ;({ body } = await test(id, args, company).expect(400))
      }),
    )
    expect(body.details[0]).toMatchObject({ path: expect.stringContaining("params") })
    expect(endpoint.requests).toHaveLength(before)
    // Its process was replaced.
    await create({ properties: { a: { pattern: `^[0-9]{${++count}}$` } } }, globex).expect(201)
  })

  it("ends its process alone when its errors need too much memory in one allocation", async () => {
    const script = `
      import { ToolSchemas } from "./dist/src/assistant/tool-schemas.js"
      const schemas = new ToolSchemas(console)
      const check = (params, args) => schemas.faultsOfArguments("a company", { type: "object", ...params }, args)
      const errors = await check({ anyOf: [{}], additionalProperties: { required: ["a"] } }, { ["~".repeat(20_000_000)]: {} })
      console.log(JSON.stringify([errors, await check({ properties: { a: { pattern: "^a$" } } }, { a: "b" })]))`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
    expect(JSON.parse(stdout)).toEqual([
      [{ path: "params", message: expect.stringMatching(/: it (needs too much memory|takes too long)$/) }],
      [{ path: "params.a", message: 'must match pattern "^a$"' }],
    ])
  })
})

describe("the budget of a company", () => {
  beforeAll(async () => {
    server = await serverProcess(w)
  })

  interface Operation {
    query: string
    variables: object
  }
  const graphql = async ({ url }: { url: string }, company: typeof acme, operation: Operation) => {
    const answer = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-access-token": company.token },
      body: JSON.stringify(operation),
    })
    // biome-ignore lint/suspicious/noExplicitAny: as the operation shaped it.
    return (await answer.json()) as any
  }
  /** Creates so many tools; the schemas are used in turn. */
  function creation(tools: number, schemas: Schema[], company: typeof acme): Operation {
    const { id } = company.assistant
    const input = (at: number) =>
      `assistantId: "${id}", name: "tool${++count}", description: "d", apiCallUrl: "${endpoint.url}", params: $p${at % schemas.length}`
    const aliases = Array.from({ length: tools }, (_, at) => `a${at}: createAssistantTool(input: { ${input(at)} }) { id }`)
    const declared = schemas.map((_, at) => `$p${at}: JSON`)
    const variables = Object.fromEntries(schemas.map((schema, at) => [`p${at}`, { type: "object", ...schema }]))
    return { query: `mutation (${declared}) { ${aliases} }`, variables }
  }
  /** Sends small requests of another company one after the other while `work` runs; returns the longest time of one. */
  async function slowest(to: { url: string }, work: Promise<unknown>): Promise<number> {
    let [longest, isDone] = [0, false]
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    do {
      const schema = { properties: { [`other${++count}`]: { pattern: "^a+$" } } }
      const round = await duration(async () => {
        const answers = await Promise.all([
          graphql(to, globex, { query: "{ chatFolders { id } }", variables: {} }),
          graphql(to, globex, creation(1, [schema], globex)),
        ])
        for (const { errors } of answers) expect(errors).toBeUndefined()
      })
      longest = Math.max(longest, round)
      // Not a wait: the pause between two requests of a client.
      await sleep(20)
    } while (!isDone)
    return longest
  }

  /** A schema of nearly 200 subschemas that is accepted. */
  const wideSchema = (number: number): Schema => ({
    title: `Schema ${number}`,
    unevaluatedProperties: false,
    anyOf: Array.from({ length: 66 }, (_, at) => ({
      properties: { [`p${at}`]: { type: ["string", "null"], format: "date", enum: ["a", "b"] } },
      required: [`p${at}`],
      unevaluatedProperties: false,
    })),
  })
  /** A schema of 13 KB, beyond the limits, that Ajv compiles in nearly a second. */
  const largeSchema = (number: number): Schema => ({
    title: String(number),
    $defs: Object.fromEntries(
      Array.from({ length: 99 }, (_, at) => [
        `d${at}`,
        {
          anyOf: [{ properties: { [`a${at}`]: { type: "string" } }, unevaluatedProperties: false }],
          ...(at && { allOf: [{ $ref: `#/$defs/d${at - 1}` }] }),
        },
      ]),
    ),
    $ref: "#/$defs/d98",
    unevaluatedProperties: false,
  })
  const thirty = Array.from({ length: 30 }, (_, at) => at)

  it.each<[string, (company: typeof acme) => Operation[]]>([
    ["thirty schemas within the limits in one request", (company) => [creation(30, thirty.map(wideSchema), company)]],
    ["thirty requests with schemas that are too large", (company) => thirty.map((at) => creation(1, [largeSchema(at)], company))],
  ])("bounds what %s take; another company is answered meanwhile", async (what, attack) => {
    const company = await newCompany()
    // The first requests start the processes.
    await Promise.all([slowest(server!, Promise.resolve()), graphql(server!, company, creation(1, [{ title: "first" }], company))])
    let attacks!: Promise<Awaited<ReturnType<typeof graphql>>[]>
    let longest = 0
    await pace(`${what} are answered`, (5 * assistantLimits.schemaBudgetMs) / 4, "ms", () =>
      duration(async () => {
        attacks = Promise.all(attack(company).map((operation) => graphql(server!, company, operation)))
        longest = await slowest(server!, attacks)
      }),
    )
    await pace(`another company is answered beside ${what}`, 2_000, "ms", () => longest)
    for (const { errors = [] } of await attacks) for (const { extensions } of errors) expect([400, 429]).toContain(extensions.statusCode)
    expect(server!.ended()).toBeNull()
  })

  it("is used up by checks that take long: further ones are 429, but not those whose result is known", async () => {
    const { services } = w
    const { toolSchemas } = services
    await using own = Object.assign(new ToolSchemas(services.log, 2 * assistantLimits.schemaTaskMs), {
      async [Symbol.asyncDispose]() {
        services.toolSchemas = toolSchemas
        await own.close()
      },
    })
    services.toolSchemas = own
    const company = await newCompany()
    const known = { properties: { a: { pattern: "^(b+)+$" } } }
    await create(known, globex).expect(400)
    const plain = (await create({ required: ["a"] }, company).expect(201)).body
    const id = await stored({ properties: { a: { pattern: "^(a+)+$" } } }, company)
    const endless = { a: `${"a".repeat(50)}!` }
    const run = async () => (await w.rest.as(company.token).post(`${path}/${id}/test`, { params: endless })).status
    const [first, second, third] = [await run(), await run(), await run()]
    // On a busy machine what was checked before has used some of it, so that the second one may be refused already.
    expect([first, third]).toEqual([400, 429])
    expect([400, 429]).toContain(second)
    const another = { properties: { a: { pattern: `^new${++count}$` } } }
    const { body, headers } = await create(another, company).expect(429)
    expect(body).toMatchObject({ code: "RATE_LIMITED", message: expect.stringContaining("this company") })
    expect(Number(headers["retry-after"])).toBeGreaterThan(0)
    // Limits, known results and plain arguments cost nothing; other companies have their own budget.
    await create({ properties: properties(201) }, company).expect(400)
    await create(known, company).expect(400)
    await test(plain.id, { a: 1 }, company).expect(201)
    await test(plain.id, {}, company).expect(400)
    await create(another, globex).expect(201)
  })
})
