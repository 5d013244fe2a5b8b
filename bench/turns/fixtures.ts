import { execFile } from "node:child_process"
import { promisify } from "node:util"
import pg from "pg"
import { execute } from "../../src/admin/command-line.js"
import { earlierVersion } from "../requests.js"
import { type HookMessenger, hookSecret } from "./hook-request.js"
import { listedTool, mcpServerName, toolName } from "./words.js"

/** A company of the benchmark with its two assistants and its two widgets. */
export interface BenchCompany {
  id: string
  token: string
  /** Without a tool, with one that calls an endpoint, and with the same of an MCP server. */
  assistantId: string
  toolAssistantId: string
  mcpAssistantId: string
  /** The widget whose new chats get the first assistant, and one without an assistant. */
  widgetId: string
  silentWidgetId: string
  /** The connections of other channels, without an assistant. */
  connectionIds: Record<Exclude<HookMessenger, "widget">, string>
}

/** A process serves at most 150 turns of a company at once, and 200 in all: one company could not fill it. */
const companies = 4

/** Creates the companies by the command line and over REST, as an operator and a developer would. */
export async function createCompanies(environment: NodeJS.ProcessEnv, url: string, standInUrl: string): Promise<BenchCompany[]> {
  // With a public address Telegram's connections have a hook.
  const channels = { ...environment, TELEGRAM_BASE_URL: standInUrl, PUBLIC_URL: "https://bench.example" }
  const admin = async (...args: string[]) => JSON.parse(await run([...args, "--json"], channels)) as { id: string; token: string }
  const create = async (place: number): Promise<BenchCompany> => {
    const { id } = await admin("company:create", "--name", `Northwind ${place}`)
    const { token } = await admin("token:create", "--company", id, "--name", "bench")
    await admin("subscription:set", "--company", id, "--plan", "pro", "--status", "active")
    const post = (path: string, body: object) => posted(`${url}${path}`, token, body)
    const assistant = { prompt: "You answer customers of a shop, briefly and kindly.", language: "en" }
    const plain = await post("/api/assistants-new", { name: "Assistant", ...assistant })
    const equipped = await post("/api/assistants-new", { name: "Assistant with a tool", ...assistant })
    await post("/api/assistant-tools-new", {
      assistantId: equipped.id,
      name: toolName,
      description: listedTool.description,
      params: listedTool.inputSchema,
      apiCallUrl: `${standInUrl}/tool`,
      timeoutSeconds: 60,
    })
    const connected = await post("/api/assistants-new", { name: "Assistant with a tool server", ...assistant })
    const server = await post(`/api/companies/${id}/mcp-servers`, { name: mcpServerName, url: `${standInUrl}/mcp` })
    await enable(url, token, connected.id, server.id)
    const connect = (site: string, ...more: string[]) =>
      admin("channel:connect", "--company", id, "--messenger", "widget", "--external-id", site, "--name", site, ...more)
    const widget = await connect("site", "--assistant", plain.id)
    const silent = await connect("silent")
    const over = async (messenger: string, credentials: object) => {
      const account = ["--external-id", messenger, "--name", messenger, "--credentials", JSON.stringify(credentials)]
      return (await admin("channel:connect", "--company", id, "--messenger", messenger, ...account)).id
    }
    const connectionIds = {
      "custom-messenger": await over("custom-messenger", { deliveryUrl: `${standInUrl}/deliver`, secret: hookSecret }),
      "telegram-bot": await over("telegram-bot", { botToken: `${place + 1}:bench`, secretToken: hookSecret }),
    }
    const widgets = { widgetId: widget.id, silentWidgetId: silent.id }
    return { id, token, assistantId: plain.id, toolAssistantId: equipped.id, mcpAssistantId: connected.id, ...widgets, connectionIds }
  }
  return Promise.all(Array.from({ length: companies }, (_, place) => create(place)))
}

/** Runs a command of the command line: with an earlier version of the server that version's, which knows its schema. */
async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  if (earlierVersion) {
    const options = { cwd: earlierVersion, env: { ...process.env, ...environment } }
    return (await promisify(execFile)(process.execPath, ["dist/server/admin.js", ...args], options)).stdout
  }
  const { code, stdout, stderr } = await execute(args, environment)
  if (code !== 0) throw new Error(`${args[0]}: ${stderr}`)
  return stdout
}

/** Enables the tool of the MCP server, with the time limit of the webhook. */
async function enable(url: string, token: string, assistantId: string, serverId: string) {
  const headers = { "Content-Type": "application/json", "X-Access-Token": token }
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const tools = (await send("PUT", `/api/assistants/${assistantId}/mcp-tools`, { tools: [{ serverId, name: toolName }] })) as {
    tool: { id: string }
  }[]
  await send("PATCH", `/api/assistant-tools-new/${tools[0]!.tool.id}`, { timeoutSeconds: 60 })
}

async function posted(url: string, token: string, body: object): Promise<{ id: string }> {
  const headers = { "Content-Type": "application/json", "X-Access-Token": token }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as { id: string }
}

/**
 * Adds to a database what the benchmark needs: the database's own time at which a message is stored, since the server's is taken before the
 * statement that stores it may have waited; and no automatic vacuum, which would strike one contestant and not the other.
 */
export async function prepare(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("alter table message add column stored_at timestamptz default clock_timestamp()")
  await client.query(newVisitorWidgets, [newVisitorWidgetCount])
  for (const table of vacuumed) await client.query(`alter table ${table} set (autovacuum_enabled = off)`)
  await client.end()
}

/** A connection takes at most 600 new chats a minute (contract, section 8): new visitors write to as many that no limit is reached. */
const newVisitorWidgetCount = 100

const newVisitorWidgets = `
  insert into channel select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'external_id', 'new-' || place))).*
  from channel c, generate_series(1, $1) place where external_id = 'site'`

/** The widgets of all companies that new visitors write to. */
export const newVisitorWidgetsOf = async (client: pg.Client): Promise<string[]> =>
  (await client.query("select id from channel where external_id like 'new-%' order by random()")).rows.map(({ id }) => id)

/** The tables that are vacuumed before each measurement instead. */
export const vacuumed = ["chat", "message", "event", "assistant_turn", "tool_call", "tool_call_tally", "channel_message"]
