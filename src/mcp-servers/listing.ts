import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import type { McpServer } from "../entities/mcp-server.js"
import { McpTool, type McpToolDefinition } from "../entities/mcp-tool.js"
import { type McpAccount, McpFailure } from "../ports/mcp.js"
import { definitionsOf } from "./definitions.js"

/** What a server answered: its tools, or why there are none. */
export type Listing = { definitions: McpToolDefinition[]; protocol: unknown } | McpFailure

/** Lists the tools of a server, outside of any transaction; a server that cannot be listed is a result. */
export async function listTools(
  { services }: RequestContext,
  companyId: string,
  account: McpAccount,
  known: readonly McpTool[] = [],
  signal: AbortSignal = services.stopping,
): Promise<Listing> {
  try {
    const { tools, protocol } = await services.mcp.list(account, signal)
    const byName = new Map(known.map((tool) => [tool.name, tool]))
    return { definitions: await definitionsOf(services, companyId, tools, byName), protocol }
  } catch (error) {
    if (error instanceof McpFailure) return error
    throw error
  }
}

/** Stores what a server answered. Tools that it no longer lists are kept while an assistant has them; of those that changed, none is used. */
export async function storeListing(tx: RequestContext, server: McpServer, listing: Listing): Promise<void> {
  if (listing instanceof McpFailure) return server.notListed(listing.fault, listing.message)
  server.listed(listing.protocol)
  const rows = await tx.em.find(AssistantTool, { mcpServerId: server.id }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: "asc" } })
  const tools = await storeTools(tx, server, listing.definitions, new Set(rows.map((row) => row.mcpToolName!)))
  const changed = rows.filter((row) => row.compare(tools.get(row.mcpToolName!) ?? null))
  await renewAgents(tx, changed)
}

async function storeTools({ em }: RequestContext, server: McpServer, definitions: McpToolDefinition[], used: ReadonlySet<string>) {
  const tools = new Map((await em.find(McpTool, { serverId: server.id })).map((tool) => [tool.name, tool]))
  const listed = new Set(definitions.map(({ name }) => name))
  for (const definition of definitions) {
    const tool = tools.get(definition.name) ?? Object.assign(new McpTool(), { companyId: server.companyId, serverId: server.id })
    tool.define(definition)
    if (!tools.has(definition.name)) em.persist(tool)
    tools.set(definition.name, tool)
  }
  for (const tool of tools.values()) {
    if (listed.has(tool.name)) continue
    if (used.has(tool.name)) tool.isGone = true
    else em.remove(tool)
  }
  return tools
}

/** Voice agents have their tools at their provider. */
export async function renewAgents({ em }: RequestContext, tools: AssistantTool[]): Promise<void> {
  const ids = [...new Set(tools.map(({ assistantId }) => assistantId))]
  if (ids.length === 0) return
  for (const assistant of await em.find(Assistant, { id: { $in: ids } })) assistant.toolsChanged()
}
