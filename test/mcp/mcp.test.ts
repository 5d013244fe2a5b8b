import supertest from "supertest"
import { type McpAnswer, mcpClient, postMcp } from "../kit/mcp.js"
import { revisions } from "../kit/mcp-messages.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world({ CORS_ORIGINS: "https://desk.example" })
const { acme } = w
const url = () => w.url
const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

const names = [
  "search_chats",
  "read_chat",
  "send_message",
  "take_over",
  "give_back",
  "assign_chat",
  "label_chat",
  "comment_chat",
  "search_knowledge",
  "add_knowledge",
  "list_assistants",
  "update_assistant_prompt",
  "list_calls",
  "start_call",
]

/** A read-only access token of Acme. */
async function readOnlyToken(): Promise<string> {
  const path = `/api/companies/${acme.id}/access-tokens`
  return (await w.rest.as(acme.owner.jwt).post(path, { name: "Reader", readOnly: true }).expect(201)).body.token
}

describe.each(revisions)("a client of revision %s", (revision) => {
  it("learns who the server is, and sees the tools with their schemas", async () => {
    const agent = mcpClient(url, acme.token, revision)
    const { status, body } = await agent.meet()
    expect(status).toBe(200)
    expect(body.result.capabilities).toEqual({ tools: {} })
    expect(body.result.instructions).toContain("take_over")
    const server = { name: "assistant-messaging-platform", version: expect.any(String) }
    if (revision === "2026-07-28") {
      expect(body.result.supportedVersions).toEqual(["2026-07-28"])
      expect(body.result._meta["io.modelcontextprotocol/serverInfo"]).toMatchObject(server)
    } else expect(body.result).toMatchObject({ protocolVersion: revision, serverInfo: server })

    const tools = await agent.list()
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(names)
    for (const tool of tools) {
      expect(tool).toMatchObject({ title: expect.any(String), description: expect.any(String) })
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false })
      expect(tool.outputSchema.type).toBe("object")
    }
  })

  it("calls a tool, and gets an object and the same as text", async () => {
    const chat = await acme.chat({ name: "Ann" })
    const { content, structuredContent, isError } = await mcpClient(url, acme.token, revision).call("read_chat", { chatId: chat.id })
    expect(isError).toBeFalsy()
    expect(structuredContent).toMatchObject({ id: chat.id, name: "Ann", messages: { nodes: [] } })
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }])
  })

  it("is told why a call failed in the words of the API", async () => {
    const answer = await mcpClient(url, acme.token, revision).request("read_chat", { chatId: acme.id })
    const { structuredContent, content, isError } = answer.body.result
    expect([answer.status, isError]).toEqual([200, true])
    const requestId = answer.headers["x-request-id"]
    expect(structuredContent).toEqual({ code: "NOT_FOUND", statusCode: 404, message: "Chat not found", details: [], requestId })
    expect(JSON.parse(content[0].text)).toEqual(structuredContent)
  })
})

it("a client may keep the list of tools for some time, for itself alone", async () => {
  const { body } = await mcpClient(url, acme.token).send("tools/list")
  expect(body.result).toMatchObject({ ttlMs: 300_000, cacheScope: "private" })
  const { body: next } = await mcpClient(url, acme.token).send("tools/list", { cursor: "x" })
  expect(next.error).toEqual({ code: -32602, message: "The list of tools has one page" })
})

describe("credentials", () => {
  it.each([
    ["no credential", null, "Bearer"],
    ["a mistyped access token", "amp_nonsense", 'Bearer error="invalid_token"'],
    ["a bearer token of nobody", "e30.e30.e30", 'Bearer error="invalid_token"'],
  ])("%s is 401 with a challenge, before the message is read", async (_name, credential, challenge) => {
    for (const method of ["initialize", "server/discover", "tools/list", "ping"]) {
      const { status, headers, body } = await postMcp(w.url, credential, { jsonrpc: "2.0", id: 1, method })
      expect([status, headers["www-authenticate"]]).toEqual([401, challenge])
      expect(body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000, data: { code: "UNAUTHENTICATED", statusCode: 401 } } })
    }
    expect((await postMcp(w.url, credential, "{")).status).toBe(401)
  })

  it("an access token may come in either header, and a person may come with a session", async () => {
    for (const credential of [acme.token, { Authorization: `Bearer ${acme.token}` }, acme.member.jwt])
      expect((await postMcp(w.url, credential, ping)).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
  })

  promised("a revoked token is refused from then on", async () => {
    const path = `/api/companies/${acme.id}/access-tokens`
    const { body: made } = await w.rest.as(acme.owner.jwt).post(path, { name: "Short" }).expect(201)
    expect((await postMcp(w.url, made.token, ping)).status).toBe(200)
    await w.rest.as(acme.owner.jwt).delete(`${path}/${made.id}`).expect(200)
    expect((await postMcp(w.url, made.token, ping)).status).toBe(401)
  })

  promised("a visitor of the widget is refused", async () => {
    const { body } = await w.rest.as({}).post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
    const { status, body: refused } = await postMcp(w.url, body.visitorToken, ping)
    expect([status, refused.error.data.code]).toEqual([403, "FORBIDDEN"])
  })

  promised("a read-only token sees and uses the tools that read, and no others", async () => {
    const agent = mcpClient(url, await readOnlyToken())
    const tools = await agent.list()
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(["search_chats", "read_chat", "list_assistants", "list_calls"])
    expect(tools.every(({ annotations }: { annotations: { readOnlyHint: boolean } }) => annotations.readOnlyHint)).toBe(true)
    const chat = await acme.chat()
    expect((await agent.call("read_chat", { chatId: chat.id })).structuredContent.id).toBe(chat.id)
    const { isError, structuredContent } = await agent.call("send_message", { chatId: chat.id, text: "Hi" })
    expect([isError, structuredContent.code, structuredContent.message]).toEqual([true, "FORBIDDEN", "This access token is read-only"])
    expect(await w.sql("select from message where chat_id = $1", [chat.id])).toHaveLength(0)
  })
})

describe("HTTP", () => {
  it.each(["get", "delete", "put", "patch", "head"] as const)("%s is 405 with Allow, with and without credentials", async (method) => {
    for (const headers of [{}, { "X-Access-Token": acme.token }]) {
      const response = await supertest(w.url)
        [method]("/mcp")
        .set({ Accept: "text/event-stream", ...headers })
      expect([response.status, response.headers["allow"]]).toEqual([405, "POST"])
    }
  })

  it.each([
    ["malformed JSON", "{", -32700],
    ["a text", '"ping"', -32700],
    ["nothing", "", -32600],
    ["no message", "{}", -32600],
    ["an id of another kind", { ...ping, id: {} }, -32600],
    ["a batch", [ping, ping], -32600],
    ["an empty batch", [], -32600],
  ])("%s is 400", async (_name, body, code) => {
    const answer = await postMcp(w.url, acme.token, body)
    expect([answer.status, answer.body.jsonrpc, answer.body.id, answer.body.error.code]).toEqual([400, "2.0", null, code])
  })

  it("a body of another type is 415, and one over 1 MB is 413", async () => {
    const other = await postMcp(w.url, acme.token, "a=b", { "Content-Type": "application/x-www-form-urlencoded" })
    expect([other.status, other.body.error.data.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"])
    const large = await postMcp(w.url, acme.token, { ...ping, params: { text: "x".repeat(1024 * 1024) } })
    expect([large.status, large.body.error.data.code]).toEqual([413, "PAYLOAD_TOO_LARGE"])
  })

  it("answers have the request's ID and are not cached", async () => {
    for (const credential of [acme.token, null]) {
      const { headers } = await postMcp(w.url, credential, ping, { "X-Request-Id": "mine" })
      expect(headers).toMatchObject({ "x-request-id": "mine", "cache-control": "no-store" })
    }
  })

  it("notifications and answers get 202 without a body", async () => {
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
    ]) {
      const answer = await postMcp(w.url, acme.token, body)
      expect([answer.status, answer.body]).toEqual([202, null])
    }
  })

  it("headers that contradict the message are 400", async () => {
    const agent = mcpClient(url, acme.token)
    const { status, body } = await agent.send("tools/call", { name: "list_calls", arguments: {} }, { "Mcp-Name": "list_assistants" })
    expect([status, body.error.code]).toEqual([400, -32020])
    const other = await agent.send("tools/list", {}, { "Mcp-Method": "tools/call" })
    expect([other.status, other.body.error.code]).toEqual([400, -32020])
  })

  it("an unknown revision is refused with those that the server speaks", async () => {
    const modern = await mcpClient(url, acme.token).send(
      "tools/list",
      {
        _meta: { "io.modelcontextprotocol/protocolVersion": "2031-01-01" },
      },
      { "MCP-Protocol-Version": "2031-01-01" },
    )
    expect([modern.status, modern.body.error.data.supported]).toEqual([400, ["2026-07-28"]])
    const older = await postMcp(w.url, acme.token, ping, { "MCP-Protocol-Version": "2024-11-05" })
    expect([older.status, older.body.error.message]).toEqual([400, expect.stringContaining("2025-06-18")])
    const { body } = await postMcp(w.url, acme.token, {
      ...ping,
      method: "initialize",
      params: { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "old", version: "1" } },
    })
    expect(body.result.protocolVersion).toBe("2025-11-25")
  })

  it("an unknown tool is an error of the protocol, and a long name is not repeated", async () => {
    for (const name of ["nothing", "__proto__", "x".repeat(100_000)]) {
      const { body } = await mcpClient(url, acme.token, "2025-11-25").request(name)
      expect(body.error).toEqual({ code: -32602, message: `There is no tool ${name.slice(0, 100)}` })
    }
  })

  it("what the server does not have is an unknown method", async () => {
    for (const method of ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "nonsense"]) {
      const { body } = await mcpClient(url, acme.token, "2025-11-25").send(method)
      expect([method, body.error.code]).toEqual([method, -32601])
    }
    const { status, body } = await mcpClient(url, acme.token).send("subscriptions/listen", { notifications: {} })
    expect([status, body.id, body.error.code]).toEqual([404, 1, -32601])
  })
})

describe("pages of other origins", () => {
  const from = (origin: string): Promise<McpAnswer> => postMcp(w.url, acme.token, ping, { Origin: origin })

  it.each(["https://evil.example", "http://127.0.0.1:1", "null", "nonsense"])("%s is 403, whatever Host says", async (origin) => {
    const { status, body } = await from(origin)
    expect([status, body.error.data.code]).toEqual([403, "FORBIDDEN"])
    const rebound = await postMcp(w.url, acme.token, ping, { Origin: "http://evil.example", Host: "evil.example" })
    expect(rebound.status).toBe(403)
  })

  it("the server's own origin may, under each name of the machine, and those of CORS_ORIGINS", async () => {
    const { port } = new URL(w.url)
    for (const origin of [w.url, `http://localhost:${port}`, `http://[::1]:${port}`, "https://desk.example"])
      expect([origin, (await from(origin)).status]).toEqual([origin, 200])
    expect((await from("https://desk.example")).headers["access-control-allow-origin"]).toBe("https://desk.example")
  })

  it("a preflight allows the headers of the protocol to an origin of CORS_ORIGINS alone", async () => {
    const asked = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id,last-event-id"
    const preflight = (origin: string) =>
      supertest(w.url)
        .options("/mcp")
        .set({ Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": asked })
    const { status, headers } = await preflight("https://desk.example")
    expect([status, headers["access-control-allow-origin"], headers["access-control-allow-headers"]]).toEqual([
      204,
      "https://desk.example",
      asked,
    ])
    expect((await preflight("https://evil.example")).headers["access-control-allow-origin"]).toBeUndefined()
  })
})

promised("a conversation goes on over any instance, since the server keeps no session", async () => {
  const other = await w.another()
  const instances = [w.url, other.url]
  const turns = (revision: (typeof revisions)[number]) => {
    let turn = 0
    return mcpClient(() => instances[turn++ % 2]!, acme.token, revision)
  }
  for (const revision of revisions) {
    const chat = await acme.chat({ name: revision })
    const agent = turns(revision)
    await agent.meet()
    expect(await agent.list()).toHaveLength(names.length)
    for (const text of ["one", "two", "three"]) await agent.call("send_message", { chatId: chat.id, text })
    const { structuredContent } = await agent.call("read_chat", { chatId: chat.id })
    expect(structuredContent.messages.nodes.map(({ text }: { text: string }) => text)).toEqual(["three", "two", "one"])
  }
})

describe("limits", () => {
  const limited = world({ RATE_LIMIT_PER_MINUTE: "2", RATE_LIMIT_ANONYMOUS_PER_MINUTE: "3" })

  it("requests count under the limits of the API, whatever they ask", async () => {
    const as = mcpClient(() => limited.url, limited.acme.token)
    const first = await as.request("list_calls")
    expect(first.headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1" })
    await as.list()
    const { status, headers, body } = await as.request("list_calls")
    expect([status, body.error.data.code, Number(headers["retry-after"]) > 0]).toEqual([429, "RATE_LIMITED", true])
    await limited.rest.as(limited.acme.token).get("/api/chats").expect(429)
    for (let tries = 0; tries < 3; tries++) expect((await postMcp(limited.url, null, ping)).status).toBe(401)
    expect((await postMcp(limited.url, null, ping)).status).toBe(429)
  })
})
