import { hasMany, type PlannedRow, type Relation, type RelationReader, type Selection } from "../database/read-model.js"
import type { McpToolState } from "../entities/assistant-tool.js"
import { assistantToolReadModel } from "./assistant-tool.js"
import { mcpServerReadModel } from "./mcp-server.js"

type ListedTool = PlannedRow<"McpTool">
type EnabledTool = PlannedRow<"AssistantTool">

/** Tools of MCP servers that an assistant has, or had. */
const mcpToolsOfAssistant = hasMany(
  () => assistantToolReadModel,
  "assistantId",
  (query, ids) => query.where("t.assistant_id", "=", ids).where("t.mcp_server_id", "is not", null),
)

/** Columns of a listed tool that the fields of `AssistantMcpTool` are made of. */
const ofListed = { name: {}, title: {}, description: {}, inputSchema: {}, fault: {}, digest: {}, isGone: {} }

/** The tools of all MCP servers of the assistant's company, each with its state for the assistant; in a fixed number of statements. */
export const assistantMcpTools: Relation<"Assistant"> = {
  needs: [],
  async load(rows, reader, selection) {
    const [servers, enabled] = await Promise.all([
      serversOf(reader, [...new Set(rows.map(({ companyId }) => companyId!))], selection["server"] ?? {}),
      reader.manyOf(
        mcpToolsOfAssistant,
        rows.map(({ id }) => id),
        { ...selection["tool"], mcpServerId: {}, mcpToolName: {}, mcpState: {}, mcpDigest: {} },
      ),
    ])
    return rows.map(({ id, companyId }) => {
      const own = new Map((enabled.get(id) ?? []).map((tool) => [keyOf(tool.mcpServerId!, tool.mcpToolName!), tool]))
      return servers
        .filter((server) => server.companyId === companyId)
        .flatMap((server) =>
          (server["tools"] as ListedTool[]).flatMap((listed) => shown(server, listed, own.get(keyOf(server.id, listed.name!)))),
        )
    })
  },
}

const keyOf = (serverId: string, name: string) => `${serverId} ${name}`

const serversOf = (reader: RelationReader, companyIds: string[], selection: Selection) =>
  reader.list(
    mcpServerReadModel,
    { ...selection, tools: { ...selection["tools"], ...ofListed } },
    (query) => query.orderBy("t.name").orderBy("t.id"),
    companyIds,
  )

/** A tool that its server no longer lists is shown to assistants that had it. */
function shown(server: PlannedRow<"McpServer">, listed: ListedTool, tool: EnabledTool | undefined): object[] {
  if (listed.isGone && !tool) return []
  return [{ ...listed, server, state: stateOf(listed, tool), acceptedDigest: tool?.mcpDigest ?? null, tool: tool ?? null }]
}

const stateOf = ({ isGone }: ListedTool, tool: EnabledTool | undefined): McpToolState =>
  isGone ? "gone" : ((tool?.mcpState as McpToolState | undefined) ?? "available")
