import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { McpServer } from "../entities/mcp-server.js"
import { McpTool } from "../entities/mcp-tool.js"
import { BadUserInput, NotFound } from "../errors/errors.js"
import type { McpToolInput } from "../schema/mcp-server.js"
import { mcpServerLimits } from "./limits.js"
import { nameFor } from "./names.js"

const keyOf = (serverId: string, name: string) => `${serverId} ${name}`

/** Enables exactly these tools of MCP servers for an assistant, each as its server describes it now, and switches the others off; one that has changed, and is named as it was accepted, stays as it is. */
export async function setMcpTools(tx: RequestContext, assistantId: string, input: McpToolInput[]): Promise<void> {
  const wanted = [...new Map(input.map((each, at) => [keyOf(each.serverId, each.name), { ...each, at }])).values()]
  const { enabledPerAssistant: most } = mcpServerLimits
  if (wanted.length > most) throw refused("tools", `must be at most ${most}`)
  const named = await tx.em.findOne(Assistant, { id: assistantId })
  if (!named) throw new NotFound("Assistant")
  // All servers of the company first, also those whose tools are switched off: a listing locks its server before tools and assistants.
  const lock = { lockMode: LockMode.PESSIMISTIC_READ, orderBy: { id: "asc" } } as const
  const servers = new Map((await tx.em.find(McpServer, { companyId: named.companyId }, lock)).map((server) => [server.id, server]))
  const assistant = await tx.find(Assistant, assistantId)
  const listed = await tx.em.find(McpTool, { serverId: { $in: [...new Set(wanted.map(({ serverId }) => serverId))] } })
  const tools = new Map(listed.map((tool) => [keyOf(tool.serverId, tool.name), tool]))
  const rows = await tx.em.find(AssistantTool, { assistantId })
  const own = new Map(rows.flatMap((row) => (row.mcpServerId ? [[keyOf(row.mcpServerId, row.mcpToolName!), row] as const] : [])))
  const taken = new Set(rows.map(({ name }) => name))
  for (const each of wanted) {
    const server = servers.get(each.serverId)
    if (!server) throw refused(`tools.${each.at}.serverId`, "does not exist in this company")
    const key = keyOf(each.serverId, each.name)
    const row = own.get(key)
    own.delete(key)
    const tool = tools.get(key)
    if (row?.mcpState === "changed" && each.digest === row.mcpDigest) continue
    // Naming it again does not bring a tool back that its server no longer lists.
    if (row?.mcpState === "gone" && tool?.isGone) continue
    const usable = mustBeUsable(tool, each)
    if (row) row.enable(usable)
    else {
      const name = nameFor(server.name, usable.name, taken)
      taken.add(name)
      const added = AssistantTool.ofMcpServer(assistant.companyId, assistantId, name, usable)
      added.enable(usable)
      tx.em.persist(added)
    }
  }
  for (const row of own.values()) row.switchOff()
  assistant.toolsChanged()
}

function mustBeUsable(tool: McpTool | undefined, { name, digest, at }: McpToolInput & { at: number }): McpTool {
  const path = `tools.${at}.name`
  if (!tool || tool.isGone) throw refused(path, `is no tool that its server lists: ${name}`)
  if (tool.fault !== null) throw refused(path, `cannot be used: ${tool.fault}`)
  if (digest != null && digest !== tool.digest) throw refused(`tools.${at}.digest`, "is not that of the tool as it is now: read it again")
  return tool
}

const refused = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])
