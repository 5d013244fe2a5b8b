import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import pg from "pg"
import { OrderBook } from "../simulate/mcp/order-book.js"
import { openEmbedded } from "../src/database/embedded/open.js"

/**
 * Writes a fixture of test/database/landed-database.test.ts: the rows of a database that an older, built version of the server filled, and what its
 * REST routes answered. Usage: node --import tsx scripts/landed-database.ts CHECKOUT, where CHECKOUT holds that version's `dist`. The file is named
 * after the version's last migration; that of the newest migration has to be there, so write it (CHECKOUT is ".") with the change.
 */
const [checkout] = process.argv.slice(2)
if (!checkout) throw new Error("Usage: node --import tsx scripts/landed-database.ts CHECKOUT")

/** The secrets of the fixture; the test starts the new version with them. */
const secrets = { JWT_SECRET: "a secret of the tests, long enough to sign", ENCRYPTION_KEY: "00".repeat(32) }

const folder = mkdtempSync(join(tmpdir(), "landed-"))
chmodSync(folder, 0o755)
const database = await openEmbedded({ dataDir: join(folder, "database"), role: "server", log() {} })
const orderBook = await OrderBook.start()
const port = await freePort()
const server = startServer(port)
try {
  const url = `http://127.0.0.1:${port}`
  await ready(url)
  const demoFile = join(folder, "data", "demo.json")
  await until(async () => existsSync(demoFile))
  const demo = JSON.parse(readFileSync(demoFile, "utf8"))
  const answers = await fill(url, demo)
  // A message whose reply is still due: the server ends before it answers.
  const due = await post(url, `/hooks/widget/${demo.widgetId}`, { text: "Do you deliver to Graz?", messageId: "due-1" })
  server.kill("SIGKILL")
  await once(server, "exit")
  const dumped = await dump()
  const output = join("test/fixtures/landed", `${dumped.migrations.at(-1)}.json.gz`)
  writeFileSync(output, gzipSync(JSON.stringify({ demo, dueChatId: due.chatId, answers, ...dumped }), { level: 9 }))
  console.log(output)
} finally {
  server.kill("SIGKILL")
  await orderBook.close()
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}

function startServer(port: number): ChildProcess {
  const { PATH = "", HOME = "" } = process.env
  const env = { PATH, HOME, ...secrets, PORT: String(port), DATABASE_URL: database.url, DATA_DIR: join(folder, "data"), DEMO: "true" }
  const cwd = resolve(checkout!)
  const main = ["dist/server/main.js", "dist/src/main.js"].find((file) => existsSync(join(cwd, file)))!
  return spawn(process.execPath, [main], { cwd, env, stdio: ["ignore", "ignore", "inherit"] })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  return port
}

/** Polls a URL until it answers 200; fails after 30 s. */
async function ready(url: string) {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((wait) => setTimeout(wait, 100))) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    if (answer?.ok) return
  }
  throw new Error("The server did not become ready within 30 s")
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every route.
async function send(url: string, method: string, path: string, body?: unknown, token = "", isNewer = false): Promise<any> {
  const headers: Record<string, string> = token ? { "X-Access-Token": token } : {}
  const isForm = body instanceof FormData
  if (body && !isForm) headers["Content-Type"] = "application/json"
  const response = await fetch(`${url}${path}`, { method, headers, body: isForm ? body : body ? JSON.stringify(body) : undefined })
  if (response.status === 404 && isNewer) return null
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

function post(url: string, path: string, body: unknown) {
  return send(url, "POST", path, body)
}

/** Writes something of every kind over REST, and returns what the reading routes answer afterwards. */
async function fill(url: string, demo: Record<string, string>): Promise<Record<string, unknown>> {
  const { token, assistantId, companyId } = demo
  const call = (method: string, path: string, body?: unknown) => send(url, method, path, body, token)
  const folder = await call("POST", "/api/chat-folders", { name: "Returns", color: "#AABBCC" })
  const tag = await call("POST", "/api/chat-tags", { name: "Größe", color: "#123" })
  const knowledge = { assistantId, name: "Opening hours", kind: "text", resourceContent: "The shop in Vienna opens at 9.", isVector: true }
  await call("POST", "/api/assistant-knowledge-new", knowledge)
  const tool = {
    assistantId,
    name: "order_status",
    description: "Status of an order.",
    apiCallUrl: "http://127.0.0.1:9/",
    apiSecret: "s3cret",
  }
  const { id: toolId } = await call("POST", "/api/assistant-tools-new", tool)
  await call("POST", `/api/assistant-tools-new/${toolId}/test`, { params: {} })
  await call("POST", `/api/assistants-new/${assistantId}/copy`, {})
  const newer = await fillNewer(url, demo)
  const asked = await post(url, `/hooks/widget/${demo["widgetId"]}`, { text: "Hello! When are you open?", messageId: "first-1" })
  await until(async () => {
    const { data } = await call("GET", `/api/messages?chatId=${asked.chatId}`)
    return data.some((message: { role: string; type: string }) => message.role === "Assistant" && message.type === "Text")
  })
  newer.push(...(await rate(url, demo, asked.chatId)))
  const chat = await call("POST", "/api/chats", { messenger: "playground", fromId: "playground", externalId: "customer-1", name: "Ada" })
  const form = new FormData()
  form.append("file", new Blob(["An invoice as text."], { type: "text/plain" }), "invoice.txt")
  form.append("companyId", companyId!)
  const media = await call("POST", "/api/media/upload", form)
  const said = await call("POST", "/api/messages", { chatId: chat.id, text: "Your invoice", mediaIds: [media.id ?? media.media?.id] })
  await call("POST", "/api/messages", { chatId: chat.id, text: "As I said", replyToMessageId: said.id })
  await call("PATCH", `/api/chats/${chat.id}/folder`, { folderId: folder.id })
  await call("POST", `/api/chats/${chat.id}/tags`, { tagId: tag.id })
  await call("POST", `/api/chats/${chat.id}/meta/comments`, { text: "A regular customer" })
  await call("PATCH", `/api/chats/${asked.chatId}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" })
  const paths = [
    "/api/chat-folders",
    "/api/chat-tags",
    "/api/chats/messengers",
    "/api/chats?include=lastMessage,assistant,manager",
    `/api/chats/${chat.id}`,
    `/api/chats/${asked.chatId}`,
    `/api/messages?chatId=${asked.chatId}`,
    `/api/messages?chatId=${chat.id}`,
    "/api/assistants-new?includeVariants=true",
    `/api/assistant-tools-new?assistantId=${assistantId}`,
    `/api/assistant-tools-new/${toolId}/logs`,
    `/api/assistant-knowledge-new?assistantId=${assistantId}`,
  ]
  paths.push(...newer)
  await until(async () => {
    const { data } = await call("GET", `/api/assistant-knowledge-new?assistantId=${assistantId}`)
    return data.every((item: { indexStatus: string | null }) => item.indexStatus !== "pending")
  })
  const answers: Record<string, unknown> = {}
  for (const path of paths) answers[path] = await call("GET", path)
  return answers
}

/** Writes what later versions can hold, too, and returns the paths that read it; a version without the route answers 404, and has nothing there. */
async function fillNewer(url: string, demo: Record<string, string>): Promise<string[]> {
  const { token, assistantId, companyId } = demo
  const call = (method: string, path: string, body?: unknown) => send(url, method, path, body, token, true)
  const paths: string[] = []
  const guardrails = `/api/assistants/${assistantId}/guardrails`
  // The customer asks when the shop is open.
  if (await call("PUT", guardrails, { words: { customer: "log", words: ["open"] } })) paths.push(guardrails, "/api/guardrail-hits")
  // Nothing listens there: the deliveries stay due.
  await call("POST", "/api/event-webhooks", { url: "http://127.0.0.1:9/events", types: ["MESSAGE_CREATED"] })
  const mcpServer = await call("POST", `/api/companies/${companyId}/mcp-servers`, { name: "shop", url: orderBook.url })
  if (mcpServer) {
    const tools = `/api/assistants/${assistantId}/mcp-tools`
    await call("PUT", tools, { tools: [{ serverId: mcpServer.id, name: "find_order" }] })
    paths.push(tools)
  }
  const originated = await call("POST", `/api/assistants/${assistantId}/originate`, { phoneNumber: "+380 44 123 45 67" })
  if (originated) {
    const history = `/api/calls-history/${originated.workflowId}`
    await until(async () => (await call("GET", history)).recordingUrl !== null)
    paths.push(history)
  }
  return paths
}

/** Rates what was done for a customer in a version that has ratings; returns the paths that read it. */
async function rate(url: string, { token }: Record<string, string>, chatId: string): Promise<string[]> {
  const call = (method: string, path: string, body?: unknown) => send(url, method, path, body, token, true)
  const ended = await call("POST", `/api/chats/${chatId}/end-stretch`, {})
  if (!ended) return []
  const stretches = `/api/stretches?chatId=${chatId}`
  const { data } = await call("GET", stretches)
  await call("PUT", `/api/stretches/${data[0].id}/rating`, { rating: 5, text: "Quick" })
  return [stretches]
}

/** Waits until a condition holds; fails after 30 s. */
async function until(holds: () => Promise<boolean>) {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((wait) => setTimeout(wait, 200))) if (await holds()) return
  throw new Error("The condition did not hold within 30 s")
}

/** The names of the migrations that ran, and all rows as JSON. */
async function dump() {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const names = await client.query("select name from mikro_orm_migrations order by id")
  const tables = await client.query(
    "select tablename from pg_tables where schemaname = 'public' and tablename not in ('mikro_orm_migrations') order by tablename",
  )
  const rows: Record<string, unknown> = {}
  for (const { tablename } of tables.rows) {
    const { rows: all } = await client.query(`select coalesce(json_agg(t), '[]') as list from "${tablename}" t`)
    if (all[0].list.length > 0) rows[tablename] = all[0].list
  }
  await client.end()
  return { migrations: names.rows.map(({ name }) => name as string), rows }
}
