import supertest from "supertest"
import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { duration, pace } from "../kit/pace.js"
import { promised } from "../kit/promise.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { world } from "../kit/world.js"

const path = "/api/assistant-tools-new"
// biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
type Tool = any
const names = (page: { data: Tool[] }) => page.data.map(({ name }) => name)
const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`)

let endpoint: Receiver
beforeAll(async () => {
  endpoint = await receiver()
})
afterAll(() => endpoint.close())

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, sql } = w
  const rest = bothProtocols(w)

  let count = 0
  const newName = () => `tool${++count}`
  const given = (fields: object = {}) => ({
    assistantId: acme.assistant.id,
    name: newName(),
    description: "Looks an order up.",
    apiCallUrl: "https://shop.example/orders",
    ...fields,
  })
  const create = (fields: object = {}) => rest.as(acme.token).post(path, given(fields))
  const make = async (fields: object = {}): Promise<Tool> => (await create(fields).expect(201)).body
  const read = async (id: string): Promise<Tool> => (await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body
  const patch = (id: string, body: object) => rest.as(acme.token).patch(`${path}/${id}`, body)
  const list = async (query = "", credential = acme.token) => (await rest.as(credential).get(`${path}${query}`).expect(200)).body
  const test = (id: string, params: unknown = {}) => rest.as(acme.token).post(`${path}/${id}/test`, { params })
  const log = async (id: string, query = "") => (await rest.as(acme.token).get(`${path}/${id}/logs${query}`).expect(200)).body
  const systemTool = async (name: string) =>
    (await list(`?assistantId=${acme.assistant.id}&search=${name}`)).data.find((each: Tool) => each.name === name)
  const paths = ({ body }: { body: Tool }) => body.details.map((detail: { path: string }) => detail.path)

  describe("a new tool", () => {
    it("has defaults for absent fields", async () => {
      const said = given({ name: "  find_Order-1  ", description: "  Finds it. " })
      const { body } = await rest.as(acme.token).post(path, said).expect(201)
      expect(body).toEqual({
        id: expect.any(String),
        companyId: acme.id,
        assistantId: acme.assistant.id,
        name: "find_Order-1",
        description: "Finds it.",
        params: { type: "object", properties: {} },
        type: "webhook_action",
        apiCallUrl: "https://shop.example/orders",
        httpMethod: "POST",
        timeoutSeconds: 10,
        hasWebhookSecret: false,
        disabled: false,
        isSystem: false,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: body.createdAt,
      })
      expect(await read(body.id)).toEqual(body)
    })

    it("has the same defaults for null", async () => {
      const nothing = { params: null, type: null, httpMethod: null, timeoutSeconds: null, webhookSecret: null, disabled: null }
      const { params, type, httpMethod, timeoutSeconds, hasWebhookSecret, disabled } = await make(nothing)
      expect([params, type, httpMethod, timeoutSeconds, hasWebhookSecret, disabled]).toEqual([
        { type: "object", properties: {} },
        "webhook_action",
        "POST",
        10,
        false,
        false,
      ])
    })

    it("stores every field, at its limits", async () => {
      const said = {
        name: "n".repeat(64),
        description: "ü".repeat(1024),
        params: { type: "object", properties: { order: { type: "integer" } }, required: ["order"], title: "Arguments" },
        type: "webhook_init",
        apiCallUrl: "HTTP://Shop.Example:8080/a b?c=d",
        httpMethod: "DELETE",
        timeoutSeconds: 60,
        disabled: true,
      }
      const made = await make({ ...said, webhookSecret: "s".repeat(500) })
      expect(made).toMatchObject({ ...said, hasWebhookSecret: true })
      expect(Object.keys(made)).not.toContain("webhookSecret")
      expect(await make({ timeoutSeconds: 1, type: "webhook_postcall" })).toMatchObject({ timeoutSeconds: 1, type: "webhook_postcall" })
    })

    it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])("takes %s", async (httpMethod) => {
      expect(await make({ httpMethod })).toMatchObject({ httpMethod })
    })

    it("needs no address when the client runs it", async () => {
      expect(await make({ type: "webhook_client", apiCallUrl: undefined })).toMatchObject({ type: "webhook_client", apiCallUrl: null })
      expect(await make({ type: "webhook_client", apiCallUrl: "" })).toMatchObject({ apiCallUrl: null })
    })

    it.each([
      ["name", ""],
      ["name", "   "],
      ["name", "x".repeat(65)],
      ["name", "two words"],
      ["name", "tööl"],
      ["name", "a.b"],
      ["name", "a\nb"],
      ["name", null],
      ["description", ""],
      ["description", "  "],
      ["description", "x".repeat(1025)],
      ["type", "webhook"],
      ["httpMethod", "HEAD"],
      ["httpMethod", "get"],
      ["timeoutSeconds", 0],
      ["timeoutSeconds", 61],
      ["timeoutSeconds", 1.5],
      ["timeoutSeconds", "10"],
      ["disabled", "yes"],
      ["webhookSecret", ""],
      ["webhookSecret", " word"],
      ["webhookSecret", "two\r\nlines"],
      ["webhookSecret", "x".repeat(501)],
      ["apiCallUrl", undefined],
      ["apiCallUrl", null],
      ["apiCallUrl", ""],
      ["apiCallUrl", "/orders"],
      ["apiCallUrl", "shop.example/orders"],
      ["apiCallUrl", "ftp://shop.example/"],
      ["apiCallUrl", "javascript:alert(1)"],
      ["apiCallUrl", "http:shop.example"],
      ["apiCallUrl", "http://"],
      ["apiCallUrl", "https://user:word@shop.example/"],
      ["apiCallUrl", `https://shop.example/${"x".repeat(2000)}`],
      ["assistantId", v7()],
      ["assistantId", "nonsense"],
      ["assistantId", null],
    ])("with a bad %s (%j) is 400 and names it", async (field, value) => {
      expect(paths(await create({ [field]: value }).expect(400))).toEqual([field])
    })

    promised("cannot be created for an assistant of another company", async () => {
      expect(paths(await create({ assistantId: globex.assistant.id }).expect(400))).toEqual(["assistantId"])
    })

    it("reports all faults at once", async () => {
      const answer = await create({ name: "a b", apiCallUrl: "nowhere", timeoutSeconds: 99, params: [] }).expect(400)
      expect(paths(answer).sort()).toEqual(["apiCallUrl", "name", "params", "timeoutSeconds"])
    })
  })

  describe("a name", () => {
    it("is unique per assistant, case-sensitively", async () => {
      const { name } = await make()
      const again = await create({ name: ` ${name} ` }).expect(400)
      expect(again.body).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "name", message: expect.stringContaining("taken") }] })
      await make({ name: name.toUpperCase() })
      await make({ name, assistantId: (await acme.makeAssistant()).id })
      const other = await make()
      expect(paths(await patch(other.id, { name }).expect(400))).toEqual(["name"])
      expect(paths(await create({ name: "turnOffAiMode" }).expect(400))).toEqual(["name"])
    })

    promised("requested by twenty at once is given to one of them", async () => {
      const name = newName()
      const statuses = await Promise.all(
        Array.from({ length: 20 }, () =>
          create({ name }).then(({ status, body }) => (status === 201 ? 201 : `${status} ${body.details[0].path}`)),
        ),
      )
      expect(statuses.sort()).toEqual([201, ...Array(19).fill("400 name")])
      expect(await list(`?search=${name}`)).toMatchObject({ totalCount: 1 })
    })
  })

  describe("params", () => {
    const tree = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
      required: ["name"],
    }
    const kept: [string, object, unknown, unknown][] = [
      ["that refer to themselves", tree, { name: "a", children: [{ name: "b" }] }, { name: "a", children: [{}] }],
      [
        "of draft 7",
        { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { pair: { items: [{ type: "string" }] } } },
        { pair: ["a", 1] },
        { pair: [1] },
      ],
      [
        "with parts of their own",
        { type: "object", $defs: { code: { type: "string", pattern: "^[A-Z]{3}$" } }, properties: { code: { $ref: "#/$defs/code" } } },
        { code: "ABC" },
        { code: "abc" },
      ],
      [
        "with words that no draft knows",
        { $async: true, "x-order": 1, type: "object", properties: { a: { type: "string", format: "sort-of", example: "x" } } },
        { a: "x" },
        { a: 1 },
      ],
    ]
    it.each(kept)("%s are stored unchanged, and arguments are validated against them", async (_which, params, good, bad) => {
      const made = await make({ params, apiCallUrl: endpoint.url })
      expect((await read(made.id)).params).toEqual(params)
      expect((await test(made.id, good).expect(201)).body).toMatchObject({ success: true })
      await test(made.id, bad).expect(400)
    })

    it("of two tools are independent, even with the same definition names", async () => {
      const params = (type: string) => ({
        $id: "https://shop.example/order",
        type: "object",
        properties: { at: { $id: "/part", type }, also: { $ref: "/part" } },
      })
      const [first, second] = [
        await make({ params: params("string"), apiCallUrl: endpoint.url }),
        await make({ params: params("integer"), apiCallUrl: endpoint.url }),
      ]
      await test(first.id, { also: "x" }).expect(201)
      await test(second.id, { also: 1 }).expect(201)
      await test(first.id, { also: 1 }).expect(400)
      await test(second.id, { also: "x" }).expect(400)
    })

    it.each([
      ["a text", "{}"],
      ["a list", []],
      ["no type", {}],
      ["another type", { type: "string" }],
      ["two types", { type: ["object", "null"] }],
      ["no schema", { type: "object", properties: { a: { type: "text" } } }],
      ["no list of the required", { type: "object", required: "a" }],
      ["a broken pattern", { type: "object", properties: { a: { pattern: "(" } } }],
      ["a reference to elsewhere", { type: "object", properties: { a: { $ref: "https://json-schema.org/draft/2020-12/schema" } } }],
      ["a reference to nothing", { type: "object", $ref: "#/$defs/nothing" }],
      ["65 levels", { type: "object", properties: nested(64) }],
      ["more than 64 KB", { type: "object", description: "x".repeat(64 * 1024) }],
      ["a pattern that tracks back for ever", { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }],
      ["one in a name", { type: "object", patternProperties: { "^(a|a)*$": {} } }],
      ["NUL", { type: "object", description: "a\u0000b" }],
    ])("that are %s are 400", async (_what, params) => {
      const made = await make()
      for (const answer of [await create({ params }).expect(400), await patch(made.id, { params }).expect(400)])
        expect(paths(answer)[0]).toMatch(/^(input\.)?params/)
    })

    it.each([
      [
        "references that branch",
        {
          $defs: Object.fromEntries(
            Array.from({ length: 30 }, (_, at) => [`d${at}`, at ? { allOf: Array(2).fill({ $ref: `#/$defs/d${at - 1}` }) } : {}]),
          ),
          $ref: "#/$defs/d29",
        },
        {},
      ],
      ["a circle", { allOf: [{ $ref: "#" }] }, {}],
    ])("with %s hold up nobody", async (what, schema, args) => {
      const made = await make({ params: { type: "object", ...schema }, apiCallUrl: endpoint.url })
      const before = endpoint.requests.length
      await pace(`params with ${what} are refused`, 5_000, "ms", () =>
        duration(async () => {
          const { body } = await test(made.id, args).expect(400)
          expect(body.details).toEqual([{ path: "params", message: expect.stringContaining("cannot be checked") }])
        }),
      )
      expect(endpoint.requests).toHaveLength(before)
      expect(await log(made.id)).toMatchObject({ totalCount: 0 })
    })

    it("and arguments that are nested too deeply are 400", async () => {
      const made = await make({ params: { type: "object" }, apiCallUrl: endpoint.url })
      await test(made.id, nested(64)).expect(201)
      expect(paths(await test(made.id, nested(65)).expect(400))).toEqual(["params"])
      await test(made.id, nested(1_000)).expect(400)
      await create({ params: nested(1_000) }).expect(400)
    })
  })

  describe("changing a tool", () => {
    it("keeps absent fields", async () => {
      const made = await make({ webhookSecret: "word", params: { type: "object", title: "T" }, timeoutSeconds: 5, httpMethod: "PUT" })
      expect((await patch(made.id, {}).expect(200)).body).toEqual(made)
      const { body } = await patch(made.id, { disabled: true }).expect(200)
      expect(body).toEqual({ ...made, disabled: true, updatedAt: body.updatedAt })
      expect(body.updatedAt > made.updatedAt).toBe(true)
      expect(await read(made.id)).toEqual(body)
    })

    it("changes each field alone", async () => {
      const made = await make()
      for (const change of [
        { name: newName() },
        { description: "Else." },
        { params: { type: "object", properties: { a: {} } } },
        { type: "webhook_postcall" },
        { apiCallUrl: "http://else.example/" },
        { httpMethod: "GET" },
        { timeoutSeconds: 30 },
        { disabled: true },
      ])
        expect((await patch(made.id, change).expect(200)).body).toMatchObject(change)
      expect((await patch(made.id, { webhookSecret: "word" }).expect(200)).body).toMatchObject({ hasWebhookSecret: true })
      expect((await patch(made.id, { description: "Again." }).expect(200)).body).toMatchObject({ hasWebhookSecret: true })
      expect((await patch(made.id, { webhookSecret: null }).expect(200)).body).toMatchObject({ hasWebhookSecret: false })
    })

    it("clears nullable fields with null, and refuses null elsewhere", async () => {
      const made = await make({ webhookSecret: "word" })
      for (const field of ["name", "description", "params", "type", "timeoutSeconds", "disabled", "apiCallUrl"])
        expect(paths(await patch(made.id, { [field]: null }).expect(400))).toEqual([field])
      expect(paths(await patch(made.id, { apiCallUrl: "" }).expect(400))).toEqual(["apiCallUrl"])
      const cleared = { type: "webhook_client", apiCallUrl: null, httpMethod: null, webhookSecret: null }
      expect((await patch(made.id, cleared).expect(200)).body).toMatchObject({
        type: "webhook_client",
        apiCallUrl: null,
        httpMethod: null,
        hasWebhookSecret: false,
      })
    })

    it("requires an address when the new type needs one", async () => {
      const made = await make({ type: "webhook_client", apiCallUrl: null })
      expect(paths(await patch(made.id, { type: "webhook_action" }).expect(400))).toEqual(["apiCallUrl"])
      expect(await read(made.id)).toEqual(made)
      await patch(made.id, { type: "webhook_action", apiCallUrl: "https://shop.example/" }).expect(200)
      const { body } = await patch(made.id, { type: "webhook_client" }).expect(200)
      expect(body).toMatchObject({ type: "webhook_client", apiCallUrl: "https://shop.example/" })
    })

    describe("of the address", () => {
      const secret = { webhookSecret: "word" }

      it.each([
        ["another host", "https://thief.example/orders"],
        ["another port", "https://shop.example:8443/orders"],
        ["another scheme", "http://shop.example/orders"],
        ["a subdomain", "https://a.shop.example/orders"],
      ])("drops the secret with %s", async (_what, apiCallUrl) => {
        const made = await make(secret)
        expect((await patch(made.id, { apiCallUrl }).expect(200)).body).toMatchObject({ apiCallUrl, hasWebhookSecret: false })
        await patch(made.id, { apiCallUrl: made.apiCallUrl }).expect(200)
        expect(await read(made.id)).toMatchObject({ hasWebhookSecret: false })
      })

      it("keeps the secret within an origin, however that is written", async () => {
        const made = await make(secret)
        for (const apiCallUrl of ["https://shop.example/else?a=1", "https://shop.example:443/", "HTTPS://SHOP.example/orders"])
          expect((await patch(made.id, { apiCallUrl }).expect(200)).body).toMatchObject({ apiCallUrl, hasWebhookSecret: true })
      })

      it("drops the secret when the address is removed, so that it does not move in two steps", async () => {
        const made = await make(secret)
        await patch(made.id, { type: "webhook_client", apiCallUrl: null }).expect(200)
        const moved = { type: "webhook_action", apiCallUrl: "https://thief.example/" }
        expect((await patch(made.id, moved).expect(200)).body).toMatchObject({ hasWebhookSecret: false })
      })

      it("sends the old secret nowhere else, and a secret of the same request there", async () => {
        const made = await make(secret)
        await patch(made.id, { apiCallUrl: endpoint.url }).expect(200)
        await test(made.id).expect(201)
        expect(endpoint.requests.at(-1)!.headers.authorization).toBeUndefined()
        await patch(made.id, { apiCallUrl: "https://shop.example/orders", ...secret }).expect(200)
        await patch(made.id, { apiCallUrl: endpoint.url, webhookSecret: "new" }).expect(200)
        await test(made.id).expect(201)
        expect(endpoint.requests.at(-1)!.headers.authorization).toBe("Basic new")
      })
    })

    it("cannot move it to another assistant", async () => {
      const made = await make()
      const other = await acme.makeAssistant()
      await patch(made.id, { assistantId: other.id, companyId: globex.id, isSystem: true, description: "Moved." }).expect(200)
      expect(await read(made.id)).toMatchObject({ assistantId: acme.assistant.id, companyId: acme.id, isSystem: false })
    })

    it("reports a bad input before a missing tool", async () => {
      for (const bad of [{ name: "a b" }, { timeoutSeconds: 0 }, { description: null }, { params: {} }, { apiCallUrl: "x" }])
        await patch(v7(), bad).expect(400)
      await patch(v7(), { disabled: true }).expect(404)
      const foreign = await globex.tool()
      await patch(foreign.id, { disabled: true }).expect(404)
    })
  })

  describe("system tools", () => {
    it("come with an assistant, and have no address", async () => {
      const { id } = await acme.makeAssistant()
      const { data, totalCount } = await list(`?assistantId=${id}`)
      expect(totalCount).toBe(4)
      expect(data.map(({ name, type }: Tool) => [name, type]).sort()).toEqual([
        ["platformPostCall", "webhook_postcall"],
        ["searchKnowledge", "webhook_action"],
        ["setChatTags", "webhook_action"],
        ["turnOffAiMode", "webhook_action"],
      ])
      for (const tool of data)
        expect(tool).toMatchObject({ isSystem: true, apiCallUrl: null, httpMethod: null, hasWebhookSecret: false, disabled: false })
    })

    it.each(["turnOffAiMode", "searchKnowledge", "setChatTags"])(
      "%s can be switched off and on, and not changed otherwise",
      async (name) => {
        const { id } = await systemTool(name)
        expect((await patch(id, { disabled: true }).expect(200)).body).toMatchObject({ name, disabled: true })
        for (const change of [
          { name: newName() },
          { description: "Mine." },
          { params: { type: "object" } },
          { type: "webhook_client" },
          { apiCallUrl: "https://shop.example/" },
          { httpMethod: "GET" },
          { timeoutSeconds: 5 },
          { webhookSecret: "word" },
          { webhookSecret: null },
        ])
          expect(paths(await patch(id, { ...change, disabled: false }).expect(400))).toEqual(Object.keys(change))
        expect(await read(id)).toMatchObject({ name, disabled: true, apiCallUrl: null })
        await patch(id, { disabled: false }).expect(200)
        await rest.as(acme.token).delete(`${path}/${id}`).expect(400)
        await test(id).expect(400)
      },
    )

    it("platformPostCall cannot be changed at all", async () => {
      const tool = await systemTool("platformPostCall")
      for (const change of [{ disabled: true }, { disabled: false }, { description: "Mine." }]) await patch(tool.id, change).expect(400)
      await rest.as(acme.token).delete(`${path}/${tool.id}`).expect(400)
      expect(await read(tool.id)).toEqual(tool)
    })
  })

  describe("the list of tools", () => {
    it("has the newest first, twenty by default", async () => {
      const { id } = await acme.makeAssistant()
      const made: Tool[] = []
      for (let at = 0; at < 18; at++) made.push(await make({ assistantId: id, name: `list_${at}` }))
      const newest = made.toReversed()
      const all = await list(`?assistantId=${id}`)
      expect(all.data).toHaveLength(20)
      expect(all).toMatchObject({ totalCount: 22, nextCursor: null })
      expect(all.data.slice(0, 18)).toEqual(newest)
      expect((await list(`?assistantId=${id}&skip=2&take=3`)).data).toEqual(newest.slice(2, 5))
      expect((await list(`?assistantId=${id}&skip=22`)).data).toEqual([])
      expect(names(await list("?take=1"))).toEqual(["list_17"])
      for (const query of ["?take=0", "?take=101", "?skip=-1"]) await rest.as(acme.token).get(`${path}${query}`).expect(400)
    })

    it("is searched by name and description, ignoring case, without wildcards", async () => {
      const { id } = await acme.makeAssistant()
      const found = async (search: string) => names(await list(`?assistantId=${id}&search=${encodeURIComponent(search)}`)).sort()
      await make({ assistantId: id, name: "bookTable", description: "Books a TABLE 100% sure." })
      await make({ assistantId: id, name: "other", description: "Äpfel" })
      expect(await found("TABLE")).toEqual(["bookTable"])
      expect(await found("ooktab")).toEqual(["bookTable"])
      expect(await found("äPFEL")).toEqual(["other"])
      expect(await found("0% s")).toEqual(["bookTable"])
      expect(await found("_ther")).toEqual([])
      expect(await found("bookTable Books")).toEqual([])
      expect(await found("  ")).toHaveLength(6)
    })

    promised("holds the company's own tools; the page of another company's assistant is empty", async () => {
      const foreign = await globex.tool()
      expect(await list(`?assistantId=${globex.assistant.id}`)).toEqual({ data: [], totalCount: 0, nextCursor: null })
      expect(await list(`?assistantId=${v7()}`)).toMatchObject({ data: [] })
      expect((await list("?take=100")).data.every(({ companyId }: Tool) => companyId === acme.id)).toBe(true)
      const person = await acme.person()
      await globex.person("member", person)
      expect((await list(`?assistantId=${globex.assistant.id}`, person.jwt)).data[0]).toEqual(foreign)
    })
  })

  describe("deleting a tool", () => {
    it("deletes its log, and frees its name", async () => {
      const made = await make({ apiCallUrl: endpoint.url })
      await test(made.id).expect(201)
      await rest.as(acme.token).delete(`${path}/${made.id}`).expect(200, { id: made.id, deleted: true })
      for (const gone of [`${path}/${made.id}`, `${path}/${made.id}/logs`]) await rest.as(acme.token).get(gone).expect(404)
      await rest.as(acme.token).delete(`${path}/${made.id}`).expect(404)
      expect(await sql("select 1 from tool_call where tool_id = $1", [made.id])).toEqual([])
      await make({ name: made.name })
    })
  })

  describe("testing a tool", () => {
    it("calls its endpoint, also while it is switched off", async () => {
      const made = await make({ apiCallUrl: endpoint.url, disabled: true, params: { type: "object" } })
      const { body } = await test(made.id, { a: 1 }).expect(201)
      expect(body).toEqual({ success: true, status: 200, latencyMs: expect.any(Number), body: { ok: true }, error: null })
      expect(JSON.parse(endpoint.requests.at(-1)!.body.toString())).toEqual({ a: 1 })
    })

    it("treats absent arguments as none", async () => {
      const made = await make({ apiCallUrl: endpoint.url })
      for (const params of [undefined, null, {}]) {
        await test(made.id, params).expect(201)
        expect(endpoint.requests.at(-1)!.body.toString()).toBe("{}")
      }
    })

    it.each(["webhook_init", "webhook_postcall", "webhook_client"])("works for %s with an address", async (type) => {
      expect((await test((await make({ type, apiCallUrl: endpoint.url })).id).expect(201)).body).toMatchObject({ success: true })
    })

    it("is 400 without an address, or without a method", async () => {
      await test((await make({ type: "webhook_client", apiCallUrl: null })).id).expect(400)
      const made = await make({ apiCallUrl: endpoint.url })
      await patch(made.id, { httpMethod: null }).expect(200)
      await test(made.id).expect(400)
      expect(await log(made.id)).toMatchObject({ data: [], stats: { total: 0 } })
    })

    it("is signed by a secret that was copied with its row", async () => {
      const [made, copy] = [await make({ webhookSecret: "word" }), await make({ apiCallUrl: endpoint.url })]
      await sql("update assistant_tool set sealed_secret = (select sealed_secret from assistant_tool where id = $1) where id = $2", [
        made.id,
        copy.id,
      ])
      await test(copy.id).expect(201)
      expect(endpoint.requests.at(-1)!.headers.authorization).toBe("Basic word")
    })

    promised("of another company's tool is 404", async () => {
      const foreign = await globex.tool({ apiCallUrl: endpoint.url })
      await test(foreign.id).expect(404)
      await rest.as(acme.token).get(`${path}/${foreign.id}/logs`).expect(404)
    })
  })

  describe("the log of a tool's calls", () => {
    let made: Tool
    beforeAll(async () => {
      made = await make({ apiCallUrl: endpoint.url, params: { type: "object" } })
      endpoint.answer(({ body }) => (JSON.parse(body.toString()).n % 3 ? 200 : 500))
      for (let n = 0; n < 24; n++) await test(made.id, { n }).expect(201)
      endpoint.answer(200)
      await sql("insert into tool_call (id, company_id, tool_id, params, created_at) values ($1, $2, $3, '{}', now())", [
        v7(),
        acme.id,
        made.id,
      ])
    })
    const numbers = (page: { data: Tool[] }) => page.data.map(({ params }) => params.n ?? "pending")
    const down = (from: number, fits: (n: number) => boolean) =>
      Array.from({ length: from + 1 }, (_, at) => from - at).filter((n) => fits(n))

    it("has the newest first, twenty by default", async () => {
      const page = await log(made.id)
      expect(numbers(page)).toEqual(["pending", ...down(23, (n) => n > 4)])
      expect(page).toMatchObject({ totalCount: 25, nextCursor: null })
      expect(numbers(await log(made.id, "?skip=20"))).toEqual([4, 3, 2, 1, 0])
      expect(numbers(await log(made.id, "?skip=1&take=2"))).toEqual([23, 22])
    })

    it.each([
      ["success", 16, down(23, (n) => n % 3 !== 0)],
      ["error", 8, down(23, (n) => n % 3 === 0)],
      ["pending", 1, ["pending"]],
    ])("filters by %s", async (status, total, found) => {
      const page = await log(made.id, `?status=${status}&take=100`)
      expect(numbers(page)).toEqual(found)
      expect(page.totalCount).toBe(total)
      for (const entry of page.data) expect(entry).toMatchObject({ status, success: status === "success", toolId: made.id })
    })

    it("sums over all calls, whatever the page or the status", async () => {
      const { stats } = await log(made.id)
      expect(stats).toEqual({
        total: 25,
        success: 16,
        error: 8,
        pending: 1,
        successRate: 16 / 24,
        averageLatencyMs: expect.any(Number),
      })
      const [{ mean }] = await sql("select avg(latency_ms)::float as mean from tool_call where tool_id = $1", [made.id])
      expect(stats.averageLatencyMs).toBeCloseTo(mean)
      for (const query of ["?status=error", "?status=pending&take=1", "?skip=100", "?take=1"])
        expect((await log(made.id, query)).stats).toEqual(stats)
    })

    it("refuses an unknown status, and bad pages", async () => {
      for (const query of ["?status=ok", "?status=SUCCESS", "?take=0", "?take=101", "?skip=-1"])
        await rest.as(acme.token).get(`${path}/${made.id}/logs${query}`).expect(400)
    })

    it("is empty before the first call", async () => {
      expect(await log((await make()).id)).toEqual({
        data: [],
        totalCount: 0,
        nextCursor: null,
        stats: { total: 0, success: 0, error: 0, pending: 0, successRate: null, averageLatencyMs: null },
      })
    })
  })
})

describe("input nested as deeply as a megabyte allows", () => {
  const w = world()
  const { acme } = w
  const deep = (open: string, close: string) => `${open.repeat(150_000)}1${close.repeat(150_000)}`

  it.each([
    ["lists", deep("[", "]")],
    ["objects", deep('{"":', "}")],
  ])("is a bad input over both protocols: %s", async (_what, text) => {
    const { id } = await acme.tool({ params: { type: "object" } })
    const send = (path: string, body: string) =>
      supertest(w.url).post(path).set("X-Access-Token", acme.token).set("Content-Type", "application/json").send(body)
    const { body } = await send(`${path}/${id}/test`, `{"params":${text}}`).expect(400)
    expect(body.code).toBe("BAD_USER_INPUT")
    const query = "mutation ($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success } }"
    const answer = await send("/graphql", `{"query":${JSON.stringify(query)},"variables":{"id":"${id}","params":${text}}}`)
    expect(answer.body.errors[0].extensions.code).toBe("BAD_USER_INPUT")
    for (const levels of [150, 400, 1_000, 2_000]) {
      const literal = `mutation { testAssistantTool(id: "${id}", params: ${"[".repeat(levels)}1${"]".repeat(levels)}) { success } }`
      const { body } = await send("/graphql", JSON.stringify({ query: literal }))
      expect(body.errors[0].extensions.statusCode).toBe(400)
    }
  })
})
