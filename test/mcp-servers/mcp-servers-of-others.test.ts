import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { v7 } from "uuid"
import { z } from "zod"
import { OrderBook } from "../../simulate/mcp/order-book.js"
import { type FakeModelReply, startFakeOpenAi } from "../kit/fake-openai.js"
import { freePort } from "../kit/free-port.js"
import { chatViews, stillTime, stopScheduler, unwrapped } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
const closers: (() => Promise<unknown>)[] = [() => openAi.close()]
afterAll(() => Promise.all(closers.map((close) => close())))

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest } = w
const { write, said } = chatViews(w)
const time = stillTime()
beforeAll(() => stopScheduler(w))
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** A server on the SDK of before: with a session for each client or without, and with responses as JSON or as a stream. */
async function oldServer({ hasSessions, asJson }: { hasSessions: boolean; asJson: boolean }) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const requests: string[] = []
  const make = async () => {
    const server = new McpServer({ name: "old", version: "1.0.0" })
    const config = { description: "Says where an order is.", inputSchema: { number: z.number() } }
    server.registerTool("find_order", config, async ({ number }) => ({ content: [{ type: "text", text: `Order ${number} is packed.` }] }))
    const keep = (id: string) => void sessions.set(id, transport)
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: asJson,
      sessionIdGenerator: hasSessions ? v7 : undefined,
      ...(hasSessions && { onsessioninitialized: keep, onsessionclosed: (id: string) => void sessions.delete(id) }),
    })
    await server.connect(transport as never)
    return transport
  }
  const http = createServer(async (request, response) => {
    const body = await buffer(request)
    const parsed = body.length > 0 ? JSON.parse(body.toString()) : undefined
    requests.push(parsed?.method ?? request.method)
    const known = sessions.get(String(request.headers["mcp-session-id"]))
    await (known ?? (await make())).handleRequest(request, response, parsed)
  })
  return { url: await listen(http), sessions, requests }
}

/** Connects an assistant to one tool of a server, and lets it call the tool; returns what the model was told, and the server as it is shown. */
async function use(url: string, name: string, args: object) {
  const { body: server } = await rest.as(acme.token).post(`/api/companies/${acme.id}/mcp-servers`, { name: "shop", url }).expect(201)
  expect(server).toMatchObject({ status: "ready", reason: null })
  const assistant = await acme.makeAssistant()
  const tools = [{ serverId: server.id, name }]
  const { body: listed } = await rest.as(acme.token).put(`/api/assistants/${assistant.id}/mcp-tools`, { tools }).expect(200)
  const { tool } = listed.find(({ state }: { state: string }) => state === "enabled")
  const replies: FakeModelReply[] = [{ toolCalls: [{ id: "call_1", name: tool.name, arguments: args }] }, { text: "Here you are." }]
  openAi.reply = async () => replies.shift()!
  const chat = await acme.chat({ assistantId: assistant.id })
  await write(chat, "Where is my order?")
  time.pass(4_000)
  await w.runDue()
  expect((await said(chat)).at(-1)).toBe("Assistant: Here you are.")
  const told = openAi.requests.at(-1)!.body.messages.filter(({ role }: { role: string }) => role === "tool")
  await rest.as(acme.token).delete(`/api/companies/${acme.id}/mcp-servers/${server.id}`).expect(200)
  return { server, chat, told: told.map(({ content }: { content: string }) => unwrapped(content)) }
}

describe("a server on the SDK of before (2025-11-25)", () => {
  it.each([
    { hasSessions: true, asJson: false },
    { hasSessions: true, asJson: true },
    { hasSessions: false, asJson: false },
    { hasSessions: false, asJson: true },
  ])("is listed and called: %j", async (kind) => {
    const old = await oldServer(kind)
    expect((await use(old.url, "find_order", { number: 7 })).told).toEqual(["Order 7 is packed."])
    expect(old.requests.filter((method) => method === "tools/call")).toHaveLength(1)
    // Sessions are ended, so that the server does not keep one for each call.
    await until("no session is left", () => old.sessions.size === 0)
  })
})

it("a server on today's SDK (2026-07-28) is called with one request", async () => {
  const book = await OrderBook.start()
  closers.push(() => book.close())
  const { told } = await use(book.url, "find_order", { number: 1041 })
  expect(told).toEqual(["Order 1041 (desk lamp Aurora) is delivered and arrives last Tuesday."])
  expect(book.requests).toEqual(["server/discover", "tools/list", "tools/call"])
})

describe("the reference server of the registry, as it is", () => {
  let server: ChildProcess
  let url: string
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/mcp`
    const program = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    server = spawn(process.execPath, [program, "streamableHttp"], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" })
    await until("the reference server listens", async () => (await fetch(url).catch(() => null)) !== null)
  })
  afterAll(async () => {
    const closed = once(server, "close")
    server.kill()
    await closed
  })

  it("has tools that the assistant calls", async () => {
    const echo = await use(url, "echo", { message: "hello" })
    expect(echo.told).toEqual(["Echo: hello"])
    expect(echo.server.tools.map(({ name, fault }: { name: string; fault: null }) => [name, fault])).toContainEqual(["get-sum", null])
    expect((await use(url, "get-sum", { a: 2, b: 3 })).told[0]).toContain("5")
    const picture = await use(url, "get-tiny-image", {})
    const { result, pictures } = JSON.parse(picture.told[0])
    expect(result).toContain("MCP logo")
    expect(pictures).toEqual([{ mediaId: expect.any(String), mimeType: "image/png" }])
    // The picture is a file of the chat.
    const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${picture.chat.id}`).expect(200)
    const frame = body.data.find(({ type }: { type: string }) => type === "FunctionCallOutput")
    expect(frame.messageMedia).toMatchObject([{ mediaId: pictures[0].mediaId, media: { mimeType: "image/png", status: "ready" } }])
    expect((await fetch(frame.messageMedia[0].media.url)).status).toBe(200)
    const weather = await use(url, "get-structured-content", { location: "Chicago" })
    expect(JSON.parse(weather.told[0])).toMatchObject({ temperature: expect.any(Number) })
  })
})
