import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { OrderBook } from "../../simulate/mcp/order-book.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const book = await OrderBook.start()
const w = world()
const { acme, rest } = w
let as: ReturnType<typeof rest.as>

/** An MCP server with an authorization server beside it, for machines (RFC 6749, 4.4) or for people. */
const guard = {
  url: "",
  grants: ["client_credentials"],
  issuer: "",
  valid: new Set<string>(),
  tokenRequests: [] as { body: string; authorization: string | undefined }[],
}
const server = createServer((request, response) => void serve(request, response))
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  guard.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  as = rest.as(acme.token)
  await stopScheduler(w)
})
beforeEach(() => {
  Object.assign(guard, { grants: ["client_credentials"], issuer: guard.url })
  guard.valid.clear()
  guard.tokenRequests.length = book.done.length = 0
})
afterAll(async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await Promise.all([closed, book.close()])
})
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

async function serve(request: IncomingMessage, response: ServerResponse) {
  const body = await buffer(request)
  const { url } = guard
  if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
    return json(response, { resource: `${url}/mcp`, authorization_servers: [guard.issuer], scopes_supported: ["orders"] })
  if (request.url === "/.well-known/oauth-authorization-server")
    return json(response, {
      ...{ issuer: url, token_endpoint: `${url}/token`, authorization_endpoint: `${url}/authorize` },
      ...{ response_types_supported: ["code"], grant_types_supported: guard.grants },
    })
  if (request.url === "/token") return giveToken(request, response, body.toString())
  const token = request.headers.authorization?.replace("Bearer ", "") ?? ""
  if (!guard.valid.has(token)) {
    const challenge = `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`
    return response.writeHead(401, { "www-authenticate": challenge }).end()
  }
  const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>
  const answer = await fetch(book.url, { method: request.method ?? "GET", headers, ...(body.length > 0 && { body }) })
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
  return response.end(Buffer.from(await answer.arrayBuffer()))
}

function giveToken(request: IncomingMessage, response: ServerResponse, body: string) {
  const { authorization } = request.headers
  guard.tokenRequests.push({ body, authorization })
  if (authorization !== `Basic ${Buffer.from("shop:s3cret").toString("base64")}`) return json(response, { error: "invalid_client" }, 401)
  const token = `token-${guard.tokenRequests.length}`
  guard.valid.add(token)
  return json(response, { access_token: token, token_type: "Bearer", expires_in: 3600 })
}

const create = async (fields: object) =>
  (await as.post(`/api/companies/${acme.id}/mcp-servers`, { name: "shop", url: `${guard.url}/mcp`, ...fields }).expect(201)).body
const client = () => ({ clientId: "shop", clientSecret: "s3cret", issuer: guard.url })

describe("a server that asks for authorization", () => {
  it("of machines says so", async () => {
    expect(await create({})).toMatchObject({
      status: "unauthorized",
      reason: `The server asks for client credentials of ${guard.url} (OAuth): set clientCredentials with this issuer`,
    })
  })

  it("of people says what it asks for", async () => {
    guard.grants = ["authorization_code"]
    expect(await create({})).toMatchObject({
      status: "unauthorized",
      reason: expect.stringMatching(/asks for a person's consent at http:.* which is not supported: set the header Authorization/),
    })
  })

  it("is listed and called with a token for client credentials, which is asked for once", async () => {
    const made = await create({ clientCredentials: client() })
    expect(made).toMatchObject({ status: "ready", hasCredentials: true })
    expect(JSON.stringify(made)).not.toContain("s3cret")
    // The token is for this server and no other (RFC 8707).
    const [asked] = guard.tokenRequests
    expect(Object.fromEntries(new URLSearchParams(asked!.body))).toMatchObject({
      grant_type: "client_credentials",
      resource: `${guard.url}/mcp`,
    })
    const assistant = await acme.makeAssistant()
    const tools = [{ serverId: made.id, name: "find_order" }]
    const { body } = await as.put(`/api/assistants/${assistant.id}/mcp-tools`, { tools }).expect(200)
    const { id } = body.find(({ state }: { state: string }) => state === "enabled").tool
    const call = async () => (await as.post(`/api/assistant-tools-new/${id}/test`, { params: { number: 1042 } }).expect(201)).body
    expect(await call()).toMatchObject({ success: true })
    expect(guard.tokenRequests).toHaveLength(1)

    // A token that was revoked is not used again; the call is not repeated, since it may have been carried out.
    guard.valid.clear()
    expect(await call()).toMatchObject({ success: false, status: 401, error: expect.stringContaining("does not accept the token") })
    expect(await call()).toMatchObject({ success: true })
    expect(guard.tokenRequests).toHaveLength(2)
    expect(book.done).toHaveLength(2)
  })

  it("is unauthorized with client credentials that the authorization server refuses", async () => {
    expect(await create({ clientCredentials: { ...client(), clientSecret: "wrong" } })).toMatchObject({
      status: "unauthorized",
      reason: "The authorization server refused the client credentials: invalid_client",
    })
  })

  it("does not get the secret for another authorization server than the given issuer", async () => {
    expect(await create({ clientCredentials: { ...client(), issuer: "https://auth.example.com" } })).toMatchObject({
      status: "unauthorized",
      reason: "The server names another authorization server than the issuer of the client credentials",
    })
    expect(guard.tokenRequests).toEqual([])
  })
})
