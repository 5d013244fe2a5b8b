import type { Client, StreamableHTTPClientTransport, Tool } from "@modelcontextprotocol/client"
import type { GuardedHttpClient } from "../kit/guarded-http-client.js"
import { portLimits } from "../limits.js"
import { type ListedTool, type McpAccount, type McpCall, type McpClient, McpFailure, type McpListing } from "../mcp.js"
import { McpTokens, refusal, short } from "./authorization.js"
import { Exchange } from "./exchange.js"
import { resultOf } from "./result.js"
import { type McpSdk, mcpSdk } from "./sdk.js"

/** A connection to a server for one listing or one call; it holds no socket between requests. */
interface Connection {
  client: Client
  transport: StreamableHTTPClientTransport
}

/** Client of MCP servers of revision 2026-07-28 and of those before it, over the SDK and the guarded HTTP client. */
export function mcpClient(httpClient: GuardedHttpClient): McpClient {
  const tokens = new McpTokens()

  /** Uses a connection; every error becomes an `McpFailure` in words for the owner of the server. */
  async function connected<T>(account: McpAccount, protocol: unknown, exchange: Exchange, use: (to: Connection) => Promise<T>): Promise<T> {
    const sdk = await mcpSdk()
    let open: Connection | undefined
    try {
      const token = await tokens.of(sdk, account, exchange)
      open = connectionOf(sdk, account, exchange, token)
      await open.client.connect(open.transport, { timeout: exchange.timeoutMs, ...(protocol ? { prior: protocol as never } : {}) })
      return await use(open)
    } catch (error) {
      const failure = await failureOf(sdk, account, exchange, error)
      if (failure.status === 401) tokens.forget(account)
      throw failure
    } finally {
      if (open) endSession(open)
    }
  }

  return {
    async list(account, signal) {
      const limits = { timeoutMs: portLimits.mcpListMs, maxBytes: portLimits.mcpListBytes, ...(signal && { signal }) }
      return connected(account, null, new Exchange(httpClient, limits), listed)
    },
    async call(account, protocol, call) {
      const { timeoutMs, signal } = call
      const exchange = new Exchange(httpClient, { timeoutMs, maxBytes: portLimits.mcpResultBytes, ...(signal && { signal }) })
      const result = await connected(account, protocol, exchange, (to) => called(to, call))
      return { ...resultOf(result), status: exchange.status }
    },
  }
}

const self = { name: "Service-Platform-API", version: "1.0" }

function connectionOf(sdk: McpSdk, account: McpAccount, exchange: Exchange, token: string | undefined): Connection {
  const client = new sdk.Client(self, {
    versionNegotiation: { mode: "auto" },
    inputRequired: { autoFulfill: false },
    listMaxPages: portLimits.mcpListPages,
  })
  const transport = new sdk.StreamableHTTPClientTransport(new URL(account.url), {
    fetch: exchange.fetch,
    requestInit: { headers: { "User-Agent": `${self.name}/${self.version}`, ...account.headers }, redirect: "manual" },
    // Without `onUnauthorized` the SDK repeats nothing after a 401.
    authProvider: { token: async () => token },
    onInsufficientScope: "throw",
  })
  return { client, transport }
}

/** Ends the session that an older server may have given; its response is not awaited, since a result must not wait for it. */
function endSession({ client, transport }: Connection) {
  const close = () => void client.close()
  if (transport.sessionId === undefined) return close()
  // A server may refuse it, and ends idle sessions itself.
  transport.terminateSession().then(close, close)
}

async function listed({ client }: Connection): Promise<McpListing> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], protocol: protocolOf(client) }
  const { tools } = await client.listTools(undefined, { timeout: portLimits.mcpListMs })
  return { tools: tools.map(toolOf), protocol: protocolOf(client) }
}

const toolOf = ({ name, title, description, inputSchema }: Tool): ListedTool => ({
  name,
  title: title ?? null,
  description: description ?? "",
  inputSchema: inputSchema as Record<string, unknown>,
})

/** What a later connection adopts, so that a call to a server of 2026-07-28 is one request. */
function protocolOf(client: Client) {
  const discover = client.getDiscoverResult()
  const protocol = client.getProtocolEra() === "modern" && discover ? { kind: "modern", discover } : { kind: "legacy" }
  return JSON.stringify(protocol).length <= portLimits.mcpProtocolCharacters ? protocol : null
}

function called({ client }: Connection, { id, tool, args, timeoutMs }: McpCall) {
  const params = { name: tool.name, arguments: args, _meta: { "Idempotency-Key": id } }
  return client.callTool(params, { timeout: timeoutMs, toolDefinition: tool as Tool })
}

/** Any error of the SDK as a failure: first what the network said, then the response, then the protocol. */
async function failureOf(sdk: McpSdk, account: McpAccount, exchange: Exchange, error: unknown): Promise<McpFailure> {
  if (error instanceof McpFailure) return error
  const { status } = exchange
  if (exchange.fault) return new McpFailure(exchange.isTooLarge ? "invalid" : "unreachable", exchange.fault.message, status)
  if (status === 401) return refusal(sdk, account, exchange)
  if (status === 403) return new McpFailure("unauthorized", "The server refuses access (status 403)", status)
  if (status !== null && status >= 300 && status < 400)
    return new McpFailure("invalid", `The server redirects to another address (status ${status}), which is not followed`, status)
  if (error instanceof sdk.ProtocolError)
    return new McpFailure("invalid", `The server answered with an error: ${short(error.message)}`, status)
  if (status !== null && status >= 500) return new McpFailure("unreachable", `The server answered with status ${status}`, status)
  if (status !== null && status >= 400) return new McpFailure("invalid", `The server answered with status ${status}`, status)
  return new McpFailure(
    "invalid",
    `The address does not answer as an MCP server: ${short(error instanceof Error ? error.message : "")}`,
    status,
  )
}
