import type { RequestContext } from "../context/request-context.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import type { AssistantTool } from "../entities/assistant-tool.js"
import type { ToolCall, ToolOutcome } from "../entities/tool-call.js"
import { McpFailure } from "../ports/mcp.js"
import { accountOf } from "./account.js"
import { failed, outcomeOf } from "./outcome.js"
import { storePictures } from "./pictures.js"

type ServerRow = RowOf<"McpServer", "id" | "company_id" | "url" | "sealed_credentials" | "protocol">

const serverOf: Statement<ServerRow> = {
  name: "mcp-server-of-tool",
  text: "select id, company_id, url, sealed_credentials, protocol from mcp_server where id = $1 and company_id = any($2::uuid[])",
}

/**
 * Calls a tool of an MCP server with exactly one request for the call (contract, section 11). Whatever the server does is an outcome, and so is
 * a server that cannot be called; neither throws.
 */
export async function callMcpTool(
  context: RequestContext,
  tool: AssistantTool,
  call: ToolCall,
  signal?: AbortSignal,
): Promise<ToolOutcome> {
  const [row] = await context.statement(serverOf, [tool.mcpServerId, context.companyIds])
  if (!row) return failed({ message: "The MCP server of the tool was deleted", status: null })
  const begin = performance.now()
  const latencyMs = () => Math.round(performance.now() - begin)
  try {
    const server = { id: row.id, companyId: row.company_id, url: row.url, sealedCredentials: row.sealed_credentials }
    const result = await context.services.mcp.call(accountOf(context.services, server), row.protocol, {
      id: call.id,
      tool: { name: tool.mcpToolName!, inputSchema: tool.params },
      args: call.params as Record<string, unknown>,
      timeoutMs: tool.timeoutSeconds * 1000,
      ...(signal && { signal }),
    })
    const took = latencyMs()
    // Only a chat shows files.
    const pictures = call.chatId ? await storePictures(context, tool.companyId, result.pictures) : []
    return outcomeOf(result, pictures, took)
  } catch (error) {
    if (error instanceof McpFailure) return failed(error, latencyMs())
    throw error
  }
}
