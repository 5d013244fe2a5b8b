import { execFileSync } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import supertest from "supertest"
import { clock } from "../../src/entities/kit/clock.js"
import { seal } from "../../src/entities/kit/sealed.js"
import { promised } from "../kit/promise.js"
import { type Mode, type Received, type Receiver, receiver } from "../kit/receiver.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, gql, sql } = w

let endpoint: Receiver
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "signature-"))
})
beforeEach(async () => {
  endpoint = await receiver()
})
afterEach(() => endpoint.close())
afterAll(() => rm(folder, { recursive: true }))

const free = { type: "object" }
const path = "/api/assistant-tools-new"
const tool = (fields: object = {}) => acme.tool({ apiCallUrl: `${endpoint.url}/orders`, params: free, ...fields })
const run = async ({ id }: { id: string }, params: unknown = {}) =>
  (await rest.as(acme.token).post(`${path}/${id}/test`, { params }).expect(201)).body
const logOf = async ({ id }: { id: string }) => (await rest.as(acme.token).get(`${path}/${id}/logs`).expect(200)).body
const header = ({ rawHeaders }: Received, name: string) => {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each === name)
  return at < 0 ? undefined : rawHeaders[at + 1]
}

/** The signature of the received bytes, computed by openssl as an independent implementation. */
async function signedByOpenssl({ body }: Received, secret: string) {
  const file = join(folder, "body")
  await writeFile(file, body)
  const said = execFileSync("openssl", ["dgst", "-sha256", "-hmac", secret, file], { encoding: "utf8" })
  return `sha256=${said.trim().split("= ")[1]}`
}

/** The result of the README's code for a request, run in a separate process as by an integrator. */
async function isGenuineByRecipe({ body }: Received, signature: string, secret: string): Promise<boolean> {
  const [, recipe] = /## Tools.*?```js\n(.*?)```/s.exec(await readFile("README.md", "utf8"))!
  const [program, file] = [join(folder, "recipe.mjs"), join(folder, "body")]
  await writeFile(file, body)
  await writeFile(
    program,
    `import { readFileSync } from "node:fs"\n${recipe}\nconsole.log(isGenuine(readFileSync(${JSON.stringify(file)}), ...process.argv.slice(2)))`,
  )
  return execFileSync(process.execPath, [program, signature, secret], { encoding: "utf8" }).trim() === "true"
}

describe("whatever the endpoint does, it is called once and the log has the outcome:", () => {
  const late = "The address did not answer within 1 s"
  const closed = "The connection was closed before an answer came"
  const refusedWith = (status: number) => `The endpoint answered with status ${status}`
  const large = '{"text":"'.padEnd(256 * 1024, "x")
  const cases: [Mode, { success: boolean; status: number | null; body: unknown; error: string | null }][] = [
    [200, { success: true, status: 200, body: { ok: true }, error: null }],
    [201, { success: true, status: 201, body: { ok: true }, error: null }],
    [204, { success: true, status: 204, body: null, error: null }],
    [404, { success: false, status: 404, body: { ok: true }, error: refusedWith(404) }],
    [500, { success: false, status: 500, body: { ok: true }, error: refusedWith(500) }],
    ["redirect", { success: false, status: 302, body: null, error: refusedWith(302) }],
    ["text", { success: true, status: 200, body: "<p>No JSON</p>", error: null }],
    ["large", { success: true, status: 200, body: large, error: null }],
    ["hang", { success: false, status: null, body: null, error: late }],
    ["drip", { success: false, status: null, body: null, error: late }],
    ["reset", { success: false, status: null, body: null, error: closed }],
  ]

  it.each(cases)("%s", async (mode, expected) => {
    endpoint.answer(mode)
    const made = await tool({ timeoutSeconds: 1 })
    const result = await run(made, { order: 7 })
    expect(result).toEqual({ ...expected, latencyMs: expect.any(Number) })

    const { success, status, body, error } = expected
    const log = await logOf(made)
    expect(log.data).toEqual([
      {
        id: endpoint.requests[0]!.headers["x-tool-call-id"],
        toolId: made.id,
        chatId: null,
        callId: null,
        params: { order: 7 },
        response: body,
        responseStatus: status,
        success,
        status: success ? "success" : "error",
        latencyMs: result.latencyMs,
        error,
        createdAt: expect.any(String),
      },
    ])
    expect(log.stats).toEqual({
      total: 1,
      success: success ? 1 : 0,
      error: success ? 0 : 1,
      pending: 0,
      successRate: success ? 1 : 0,
      averageLatencyMs: result.latencyMs,
    })
    expect(endpoint.requests).toHaveLength(1)
    expect(endpoint.connections).toBe(1)
  })

  it("nobody listens", async () => {
    const made = await tool({ apiCallUrl: "http://127.0.0.1:9/" })
    const refused = { success: false, status: null, latencyMs: expect.any(Number), body: null }
    expect(await run(made)).toEqual({ ...refused, error: "The address refused the connection" })
    const nowhere = await tool({ apiCallUrl: "http://nobody.invalid/" })
    expect(await run(nowhere)).toEqual({ ...refused, error: "The host of the address was not found" })
    expect((await logOf(nowhere)).stats).toMatchObject({ total: 1, error: 1 })
  })
})

describe("a request", () => {
  const secret = 's3cret: with "quotes" & a = sign'

  it.each(["POST", "PUT", "PATCH"])("by %s carries the arguments as JSON, signed over its raw bytes", async (httpMethod) => {
    const made = await tool({ httpMethod, webhookSecret: secret })
    const args = { text: "Grüße, 世界 🌍", list: [1, 2.5, -0], deep: { a: null, b: [true] } }
    await run(made, args)
    const [came] = endpoint.requests as [Received]
    expect([came.method, came.url]).toEqual([httpMethod, "/orders"])
    expect(came.body.toString()).toBe(JSON.stringify(args))
    const [entry] = (await logOf(made)).data
    const named = Object.fromEntries(came.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1]]] : [])))
    expect(named).toMatchObject({
      "Content-Type": "application/json",
      "User-Agent": "Service-Platform-API/1.0",
      Authorization: `Basic ${secret}`,
      "X-Signature": expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      "X-Tool-Call-Id": entry.id,
    })
    expect(Math.abs(Number(named["X-Timestamp"]) - clock.now().getTime() / 1000)).toBeLessThan(5)
    expect(named["X-Timestamp"]).toMatch(/^\d+$/)

    expect(named["X-Signature"]).toBe(await signedByOpenssl(came, secret))
    expect(await isGenuineByRecipe(came, named["X-Signature"]!, secret)).toBe(true)
    expect(await isGenuineByRecipe(came, named["X-Signature"]!, "another")).toBe(false)
    expect(await isGenuineByRecipe({ ...came, body: Buffer.from("{}") }, named["X-Signature"]!, secret)).toBe(false)
  })

  it.each(["GET", "DELETE"])("by %s carries the arguments in its query string, and no body to sign", async (httpMethod) => {
    const made = await tool({ httpMethod, webhookSecret: secret })
    const args = { q: "a b&c=d/ü", n: 7, yes: true, none: null, tags: ["x", "y z"], rows: [{ a: 1 }], deep: { a: [1, "é"] }, empty: [] }
    await run(made, args)
    const [came] = endpoint.requests as [Received]
    expect(came.method).toBe(httpMethod)
    const url = new URL(came.url, endpoint.url)
    expect(url.pathname).toBe("/orders")
    expect([...url.searchParams]).toEqual([
      ["q", "a b&c=d/ü"],
      ["n", "7"],
      ["yes", "true"],
      ["none", "null"],
      ["tags", "x"],
      ["tags", "y z"],
      ["rows", '{"a":1}'],
      ["deep", '{"a":[1,"é"]}'],
    ])
    expect(came.body).toHaveLength(0)
    expect(came.headers["content-length"] ?? "0").toBe("0")
    expect(header(came, "Content-Type")).toBe("application/json")
    expect(header(came, "Authorization")).toBe(`Basic ${secret}`)
    expect(came.headers["x-signature"]).toBeUndefined()
  })

  it("keeps the query string of the address unchanged", async () => {
    const query = "?sig=a%2Bb%20c+d&empty&x=%7e"
    const made = await tool({ httpMethod: "GET", apiCallUrl: `${endpoint.url}/p%20q/${query}#part` })
    await run(made)
    await run(made, { x: 1 })
    const posted = await tool({ apiCallUrl: `${endpoint.url}/${query}` })
    await run(posted, { x: 1 })
    expect(endpoint.requests.map(({ url }) => url)).toEqual([`/p%20q/${query}`, `/p%20q/${query}&x=1`, `/${query}`])
  })

  it("has no signature and no Authorization without a secret", async () => {
    const made = await tool()
    await run(made)
    await rest.as(acme.token).patch(`${path}/${made.id}`, { webhookSecret: "now" }).expect(200)
    await run(made)
    await rest.as(acme.token).patch(`${path}/${made.id}`, { webhookSecret: null }).expect(200)
    await run(made)
    const signed = endpoint.requests.map(({ headers }) => [headers.authorization, headers["x-signature"] !== undefined])
    expect(signed).toEqual([
      [undefined, false],
      ["Basic now", true],
      [undefined, false],
    ])
    expect(endpoint.requests.map(({ body }) => body.toString())).toEqual(["{}", "{}", "{}"])
  })

  it("carries a secret of any alphabet as UTF-8, in the header as in the key", async () => {
    const word = "ключ 🔑 é"
    await run(await tool({ webhookSecret: word }), { a: 1 })
    const [came] = endpoint.requests as [Received]
    expect(Buffer.from(header(came, "Authorization")!, "latin1").toString()).toBe(`Basic ${word}`)
    expect(header(came, "X-Signature")).toBe(await signedByOpenssl(came, word))
  })

  it("is not sent with invalid arguments, nor logged", async () => {
    const params = {
      type: "object",
      properties: {
        order: { type: "integer", minimum: 1 },
        to: { type: "object", properties: { mail: { type: "string", format: "email" }, "a/b~": { type: "string" } } },
      },
      required: ["order"],
      additionalProperties: false,
    }
    const made = await tool({ params })
    for (const [args, at] of [
      [{}, ["params.order"]],
      [{ order: "7" }, ["params.order"]],
      [{ order: 0, to: { mail: "nobody" } }, ["params.to.mail", "params.order"]],
      [{ order: 1, "mo/re~": 1 }, ["params.mo/re~"]],
      [{ order: 1, to: { "a/b~": 1 } }, ["params.to.a/b~"]],
      [[], ["params"]],
      ["order", ["params"]],
    ] as const) {
      const { body } = await rest.as(acme.token).post(`${path}/${made.id}/test`, { params: args }).expect(400)
      expect(body.details.map((detail: { path: string }) => detail.path)).toEqual(at)
    }
    expect(endpoint.requests).toEqual([])
    expect(await logOf(made)).toMatchObject({ data: [], totalCount: 0, stats: { total: 0, successRate: null, averageLatencyMs: null } })
    expect(await run(made, { order: 1 })).toMatchObject({ success: true })
  })
})

describe("the log", () => {
  it("has the call as pending, with its arguments, before the request leaves", async () => {
    const made = await tool()
    let seen: unknown[] = []
    endpoint.answer(async (request) => {
      seen = await sql("select params, status, success, response_status, response from tool_call where id = $1", [
        request.headers["x-tool-call-id"],
      ])
      expect((await logOf(made)).stats).toMatchObject({ total: 1, pending: 1, success: 0, error: 0, successRate: null })
      return 200
    })
    expect(await run(made, { a: 1 })).toMatchObject({ success: true })
    expect(seen).toEqual([{ params: { a: 1 }, status: "pending", success: false, response_status: null, response: null }])
  })

  it("stores responses of any shape unchanged, except for characters that PostgreSQL cannot store", async () => {
    const made = await tool()
    const deep = JSON.parse(`${"[".repeat(80)}1${"]".repeat(80)}`)
    for (const [json, kept] of [
      [{ a: [1, null, "x"], __proto__: 1 }, { a: [1, null, "x"] }],
      ["7", "7"],
      [false, false],
      [null, null],
      [{ "k\u0000": "a\u0000b\ud800c" }, { k: "ab\ufffdc" }],
      [deep, JSON.stringify(deep)],
    ]) {
      endpoint.answer({ json })
      expect((await run(made)).body).toEqual(kept)
      expect((await logOf(made)).data[0].response).toEqual(kept)
    }
  })

  it("stores arguments without unpaired surrogates", async () => {
    const made = await tool()
    const half = JSON.parse('{"a":"x\\ud800y"}')
    await run(made, half)
    expect((await logOf(made)).data[0].params).toEqual({ a: "x\ufffdy" })
    expect(JSON.parse(endpoint.requests[0]!.body.toString())).toEqual({ a: "x\ufffdy" })
  })

  it("is deleted with its tool, also during a call", async () => {
    const made = await tool()
    endpoint.answer(async () => {
      await rest.as(acme.token).delete(`${path}/${made.id}`).expect(200)
      return 200
    })
    expect(await run(made)).toMatchObject({ success: true, body: { ok: true } })
    expect(await sql("select 1 from tool_call where tool_id = $1", [made.id])).toEqual([])
    expect(await sql("select 1 from tool_call_tally where tool_id = $1", [made.id])).toEqual([])
  })

  promised("counts twenty at once, each with its own id", async () => {
    const made = await tool()
    endpoint.answer(({ body }) => (JSON.parse(body.toString()).n % 2 ? 200 : 500))
    await Promise.all(Array.from({ length: 20 }, (_, n) => run(made, { n })))
    expect(endpoint.requests).toHaveLength(20)
    expect(new Set(endpoint.requests.map(({ headers }) => headers["x-tool-call-id"])).size).toBe(20)
    expect((await logOf(made)).stats).toMatchObject({ total: 20, success: 10, error: 10, pending: 0, successRate: 0.5 })
  })

  it("has the reason when a server stopped that was waiting for a response", async () => {
    const made = await tool()
    const second = await w.another()
    endpoint.answer("hang")
    const asked = supertest(second.url).post(`${path}/${made.id}/test`).set("X-Access-Token", acme.token).send({}).then()
    await endpoint.arrived(1)
    await second.stop()
    expect((await asked).body).toMatchObject({ success: false, error: "The request was stopped" })
    expect((await logOf(made)).data).toMatchObject([{ status: "error", error: "The request was stopped" }])
  })
})

describe("a secret", () => {
  it("is stored encrypted, and shown nowhere", async () => {
    const made = await tool({ webhookSecret: "a very private word" })
    expect(made).toMatchObject({ hasWebhookSecret: true })
    const [{ row, sealed }] = await sql("select t::text as row, sealed_secret as sealed from assistant_tool t where id = $1", [made.id])
    await run(made)
    const { data } = await gql(acme.token, "query ($id: UUID!) { assistantTool(id: $id) { hasWebhookSecret } }", { id: made.id })
    expect(data.assistantTool).toEqual({ hasWebhookSecret: true })
    const everything = [row, Buffer.from(sealed, "base64").toString("latin1"), JSON.stringify([made, await logOf(made), w.logged])]
    for (const place of everything) expect(place).not.toContain("private")
    const { errors } = await gql(acme.token, "query ($id: UUID!) { assistantTool(id: $id) { webhookSecret } }", { id: made.id })
    expect(errors![0]!.extensions.code).toBe("GRAPHQL_VALIDATION_FAILED")
  })

  it("that was encrypted with another key fails the call with a message, and sends nothing", async () => {
    const made = await tool({ webhookSecret: "word" })
    const sealed = seal("word", Buffer.alloc(32, 7))
    await sql("update assistant_tool set sealed_secret = $2 where id = $1", [made.id, sealed])
    const error = "The tool's secret could not be decrypted with the current ENCRYPTION_KEY: give it again"
    expect(await run(made)).toEqual({ success: false, status: null, latencyMs: expect.any(Number), body: null, error })
    expect((await logOf(made)).data).toMatchObject([{ status: "error", error, responseStatus: null }])
    expect(w.logged.at(-1)).toMatchObject({
      level: 50,
      toolId: made.id,
      companyId: acme.id,
      msg: "the secret of a tool could not be decrypted with the current ENCRYPTION_KEY",
    })
    expect(endpoint.requests).toEqual([])
    await rest.as(acme.token).patch(`${path}/${made.id}`, { webhookSecret: "word" }).expect(200)
    expect(await run(made)).toMatchObject({ success: true })
  })
})

describe("where private addresses are refused", () => {
  const guarded = world({ ALLOW_PRIVATE_NETWORK: "false" })

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["a name of this machine", "localhost"],
    ["one number", "2130706433"],
    ["octal", "0177.0.0.1"],
    ["IPv6 around IPv4", "[::ffff:127.0.0.1]"],
  ])("%s is not called, and the log says so", async (_how, host) => {
    const { port } = new URL(endpoint.url)
    const made = await guarded.acme.tool({ apiCallUrl: `http://${host}:${port}/`, params: free })
    const asked = guarded.rest.as(guarded.acme.token)
    const { body } = await asked.post(`${path}/${made.id}/test`, {}).expect(201)
    const error = "The address is not on the public internet"
    expect(body).toEqual({ success: false, status: null, latencyMs: expect.any(Number), body: null, error })
    const { body: log } = await asked.get(`${path}/${made.id}/logs`).expect(200)
    expect(log.data).toMatchObject([{ status: "error", success: false, error, response: null, responseStatus: null }])
    expect(endpoint.connections).toBe(0)
  })
})

describe("in production", () => {
  const production = world({ NODE_ENV: "production", DEMO: "true", ALLOW_PRIVATE_NETWORK: "" })
  const warning = { level: 40, msg: expect.stringContaining("ALLOW_PRIVATE_NETWORK") }

  it("private addresses are refused by default, the demo on or not", async () => {
    const made = await production.acme.tool({ apiCallUrl: endpoint.url, params: free })
    const { body } = await production.rest.as(production.acme.token).post(`${path}/${made.id}/test`, {}).expect(201)
    expect(body).toMatchObject({ success: false, error: "The address is not on the public internet" })
    expect(endpoint.connections).toBe(0)
    expect(production.logged).not.toContainEqual(expect.objectContaining(warning))
  })

  it("one line at start says when they are allowed", async () => {
    await production.another({ ALLOW_PRIVATE_NETWORK: "true" })
    expect(production.logged.filter(({ msg }) => String(msg).includes("ALLOW_PRIVATE_NETWORK"))).toEqual([expect.objectContaining(warning)])
  })
})
