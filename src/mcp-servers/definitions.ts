import type { Services } from "../context/services.js"
import { codePoints } from "../entities/kit/scalars.js"
import { storableJson, storableText } from "../entities/kit/storable.js"
import { digestOf, type McpTool, type McpToolDefinition } from "../entities/mcp-tool.js"
import { RateLimited } from "../errors/errors.js"
import { type ListedTool, McpFailure } from "../ports/mcp.js"
import { mcpServerLimits } from "./limits.js"

const { toolsPerServer, listedName, description: longest } = mcpServerLimits

/** The fault of a tool whose arguments were not checked, because the company's budget for checks was used up. */
const notChecked = "Its arguments could not be checked yet: refresh the server in a minute"

/**
 * Checks what a server lists. A tool that no assistant can use keeps its place with the reason; a list that is ambiguous or too long makes the
 * server invalid. `known` are the tools of before, so that what did not change is not checked again.
 */
export async function definitionsOf(
  { toolSchemas }: Pick<Services, "toolSchemas">,
  companyId: string,
  tools: ListedTool[],
  known: ReadonlyMap<string, Pick<McpTool, "digest" | "fault">>,
): Promise<McpToolDefinition[]> {
  mustBeUsable(tools)
  const definitions: McpToolDefinition[] = []
  // One after the other: a company has one schema process.
  for (const tool of tools) definitions.push(await definitionOf(tool))
  return definitions

  async function definitionOf(tool: ListedTool): Promise<McpToolDefinition> {
    const inputSchema = storableJson(tool.inputSchema) as Record<string, unknown> | null
    const words = { name: tool.name, title: tool.title && storableText(tool.title), description: storableText(tool.description).trim() }
    if (!inputSchema) return { ...words, inputSchema: { type: "object" }, fault: "Its arguments are nested too deeply" }
    if (codePoints(words.description) > longest)
      return { ...words, description: "", inputSchema, fault: `Its description is longer than ${longest} characters` }
    return { ...words, inputSchema, fault: await faultOf(words, inputSchema) }
  }

  async function faultOf({ name, description }: { name: string; description: string }, inputSchema: Record<string, unknown>) {
    const before = known.get(name)
    if (before?.digest === digestOf({ description, inputSchema }) && before.fault !== notChecked) return before.fault
    try {
      const fault = await toolSchemas.faultOfParams(inputSchema, async () => companyId)
      return fault && `Its inputSchema ${fault}`
    } catch (error) {
      if (error instanceof RateLimited) return notChecked
      throw error
    }
  }
}

function mustBeUsable(tools: ListedTool[]) {
  if (tools.length > toolsPerServer) throw new McpFailure("invalid", `The server lists more than ${toolsPerServer} tools`)
  const names = new Set<string>()
  for (const { name } of tools) {
    if (name === "" || codePoints(name) > listedName || name !== storableText(name))
      throw new McpFailure("invalid", `The server lists a tool whose name is not 1 to ${listedName} characters`)
    if (names.has(name)) throw new McpFailure("invalid", `The server lists the tool ${name} twice`)
    names.add(name)
  }
}
