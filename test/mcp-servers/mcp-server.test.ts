import { OrderBook } from "../../simulate/mcp/order-book.js"
import { mcpServerLimits } from "../../src/mcp-servers/limits.js"
import { receiver } from "../kit/receiver.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const book = await OrderBook.start()
const another = await OrderBook.start({ token: "letmein" })
const page = await receiver()
afterAll(() => Promise.all([book.close(), another.close(), page.close()]))

const w = world()
const { acme, globex, rest, gql, sql } = w
let as: ReturnType<typeof rest.as>
let servers: string
const made: string[] = []

beforeAll(async () => {
  as = rest.as(acme.token)
  servers = `/api/companies/${acme.id}/mcp-servers`
  await stopScheduler(w)
})
beforeEach(() => {
  for (const each of [book, another]) {
    each.requests.length = each.done.length = 0
    each.faults.clear()
  }
})
afterEach(async () => {
  for (const id of made.splice(0)) await as.delete(`${servers}/${id}`)
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

async function create(fields: Record<string, unknown> = {}) {
  const { body } = await as.post(servers, { name: "shop", url: book.url, ...fields }).expect(201)
  made.push(body.id)
  return body
}
const look = async (id: string) => (await as.get(`${servers}/${id}`).expect(200)).body
const change = async (id: string, fields: Record<string, unknown>) => (await as.patch(`${servers}/${id}`, fields).expect(200)).body
const refresh = async (id: string) => (await as.post(`${servers}/${id}/refresh`).expect(201)).body

describe("an MCP server that is created", () => {
  it("is returned with its tools, and never with its credentials", async () => {
    const server = await create({ url: another.url, headers: { Authorization: "Bearer letmein" } })
    expect(server).toMatchObject({
      companyId: acme.id,
      name: "shop",
      url: another.url,
      status: "ready",
      reason: null,
      hasCredentials: true,
    })
    expect(server.tools.map(({ name }: { name: string }) => name)).toEqual(["cancel_order", "find_order", "list_orders"])
    expect(server.refreshedAt).toEqual(expect.any(String))
    const query = "query ($companyId: UUID) { mcpServers(companyId: $companyId) { id name status tools { name inputSchema } } }"
    const { data } = await gql(acme.member.jwt, query, { companyId: acme.id })
    expect(data.mcpServers).toMatchObject([{ id: server.id, status: "READY", tools: [{ name: "cancel_order" }, {}, {}] }])
    expect(JSON.stringify([server, data])).not.toContain("letmein")
    const [stored] = await sql("select sealed_credentials from mcp_server where id = $1", [server.id])
    expect(stored.sealed_credentials).not.toContain("letmein")
  })

  it("is stored with the reason when it cannot be listed", async () => {
    expect(await create({ url: "http://127.0.0.1:9/mcp" })).toMatchObject({
      status: "unreachable",
      reason: "The address refused the connection",
      tools: [],
      refreshedAt: null,
    })
    expect(await create({ url: another.url })).toMatchObject({
      status: "unauthorized",
      reason: "The server asks for credentials (status 401): set a header, such as Authorization",
    })
    expect(await create({ url: another.url, headers: { Authorization: "Bearer wrong" } })).toMatchObject({
      status: "unauthorized",
      reason: "The server does not accept the headers that are set (status 401)",
    })
    page.answer("text")
    expect(await create({ url: page.url })).toMatchObject({ status: "invalid", reason: expect.stringContaining("MCP server") })
    page.answer(500)
    expect(await create({ url: page.url })).toMatchObject({ status: "unreachable", reason: "The server answered with status 500" })
  })

  it.each([
    ["redirect", "tools/list", "invalid", /redirects to another address/],
    ["hang-up", "any", "unreachable", /closed before an answer came/],
    ["500", "tools/list", "unreachable", /status 500/],
  ] as const)("with the fault %s of %s is %s", async (fault, method, status, reason) => {
    book.faults.on(method, fault)
    expect(await create()).toMatchObject({ status, reason: expect.stringMatching(reason) })
  })

  it.each([
    ["huge", /sent more than 1 MB/],
    ["endless", /list/],
  ] as const)("with a list that is %s is invalid", async (list, reason) => {
    book.faults.listWith(list)
    expect(await create()).toMatchObject({ status: "invalid", reason: expect.stringMatching(reason) })
  })

  it("may be one of 20", async () => {
    for (let count = 0; count < mcpServerLimits.perCompany; count += 1) await create({ url: "http://127.0.0.1:9/mcp" })
    const { body } = await as.post(servers, { name: "one more", url: "http://127.0.0.1:9/mcp" }).expect(400)
    expect(body.message).toBe("A company has at most 20 MCP servers")
  })

  it.each([
    ["no URL", { url: undefined }, "url"],
    ["a URL that is none", { url: "shop" }, "url"],
    ["a URL with a password", { url: "http://me:secret@example.com/mcp" }, "url"],
    ["headers that are a list", { headers: [] }, "headers"],
    ["a header with a line break", { headers: { "X-Key": "a\nb" } }, "headers"],
    ["a header that the protocol sets", { headers: { "Mcp-Session-Id": "1" } }, "headers"],
    ["a header that HTTP sets", { headers: { Host: "inside" } }, "headers"],
  ])("with %s is refused", async (_what, fields, path) => {
    const { body } = await as.post(servers, { name: "shop", url: book.url, ...fields }).expect(400)
    expect(body.details[0].path).toBe(path)
    expect(book.requests).toEqual([])
  })
})

describe("an MCP server that is changed", () => {
  it("keeps its credentials at the same origin, and loses them at another", async () => {
    const { id } = await create({ url: another.url, headers: { Authorization: "Bearer letmein" } })
    expect(await change(id, { url: `${another.url}?of=shop` })).toMatchObject({ status: "ready", hasCredentials: true })
    expect(await change(id, { url: book.url })).toMatchObject({ status: "ready", hasCredentials: false })
    expect(await change(id, { url: another.url })).toMatchObject({ status: "unauthorized", hasCredentials: false })
    expect(await change(id, { headers: { Authorization: "Bearer letmein" } })).toMatchObject({ status: "ready", hasCredentials: true })
    expect(await change(id, { headers: null })).toMatchObject({ status: "unauthorized", hasCredentials: false })
  })

  it("is not listed again when only its name changes", async () => {
    const { id, refreshedAt } = await create()
    book.requests.length = 0
    expect(await change(id, { name: "Order book" })).toMatchObject({ name: "Order book", refreshedAt })
    expect(book.requests).toEqual([])
  })

  it("is refreshed when asked for; its tools are kept when it cannot be listed", async () => {
    const { id } = await create()
    book.faults.on("any", "hang-up")
    expect(await refresh(id)).toMatchObject({ status: "unreachable", tools: [{}, {}, {}] })
    book.faults.vanish("list_orders")
    const names = (await refresh(id)).tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(["cancel_order", "find_order"])
  })

  it("does not take over what was listed before another change of it", async () => {
    const { id } = await create()
    let answer = () => {}
    book.faults.on("tools/list", "slow", new Promise<void>((resolve) => (answer = resolve)))
    book.requests.length = 0
    const began = refresh(id)
    await until("the tools are being listed", () => book.requests.includes("tools/list"))
    await change(id, { url: another.url, headers: { Authorization: "Bearer letmein" } })
    book.faults.vanish("find_order")
    answer()
    expect(await began).toMatchObject({ url: another.url, status: "ready" })
    expect((await look(id)).tools).toHaveLength(3)
  })
})

describe("MCP servers of a company", () => {
  it("are managed by its owner, an admin and access tokens, and read by all members", async () => {
    const { id } = await create()
    const message = "Only an owner or admin of the company, or an access token, may manage its MCP servers"
    const member = rest.as(acme.member.jwt)
    for (const refused of [
      member.post(servers, { name: "shop", url: book.url }),
      member.patch(`${servers}/${id}`, { name: "Other" }),
      member.post(`${servers}/${id}/refresh`),
      member.delete(`${servers}/${id}`),
    ])
      expect((await refused.expect(403)).body.message).toBe(message)
    await member.get(servers).expect(200)
    await rest.as(acme.admin.jwt).post(`${servers}/${id}/refresh`).expect(201)
  })

  it("are out of reach for others, also by the path of their own company", async () => {
    const { id } = await create()
    const other = rest.as(globex.token)
    await other.get(servers).expect(403)
    await other.get(`${servers}/${id}`).expect(403)
    await other.delete(`/api/companies/${globex.id}/mcp-servers/${id}`).expect(404)
    await other.patch(`/api/companies/${globex.id}/mcp-servers/${id}`, { name: "Mine" }).expect(404)
    expect(await look(id)).toMatchObject({ name: "shop" })
  })

  it("are in the audit trail, without what only the server changes", async () => {
    const { id } = await create({ headers: { "X-Key": "letmein" } })
    await refresh(id)
    await change(id, { headers: { "X-Key": "other" } })
    await as.delete(`${servers}/${id}`).expect(200)
    const entries = await sql("select action, changed from audit_entry where subject_id = $1 order by created_at, id", [id])
    expect(entries.map(({ action }) => action)).toEqual(["createMcpServer", "updateMcpServer", "deleteMcpServer"])
    expect(JSON.stringify(entries)).not.toContain("letmein")
    expect(JSON.stringify(entries[1])).toContain("credentials")
  })
})
