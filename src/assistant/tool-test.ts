import type { RequestContext } from "../context/request-context.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { storableJson } from "../entities/kit/storable.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput } from "../errors/errors.js"
import { execute } from "./execute.js"
import type { ToolArguments } from "./webhook.js"

/** Calls a tool once as a test: logged before the request is sent, and its outcome after it. */
export async function testTool(context: RequestContext, id: string, given: ToolArguments): Promise<ToolOutcome> {
  // The arguments sent are those logged; arguments that are nested too deeply are refused below.
  const args = (storableJson(given) ?? given) as ToolArguments
  // Outside of the transaction that logs the call, since the check may wait.
  await mustFit(context, await context.transaction((tx) => testable(tx, id)), args)
  const { tool, call } = await context.transaction(async (tx) => {
    const found = await testable(tx, id)
    const opened = Object.assign(new ToolCall(), { companyId: found.companyId, toolId: found.id, params: args })
    tx.em.persist(opened)
    return { tool: found, call: opened }
  })
  const outcome = (await execute(context, tool, call, context.services.stopping))!
  await context.transaction(async (tx) => {
    // The tool and its log may have been deleted meanwhile.
    const entry = await tx.em.findOne(ToolCall, { id: call.id })
    entry?.complete(outcome)
  })
  return outcome
}

async function testable(tx: RequestContext, id: string): Promise<AssistantTool> {
  const tool = await tx.find(AssistantTool, id, "Tool")
  if (tool.type === "mcp" || (tool.apiCallUrl && tool.httpMethod)) return tool
  throw new BadUserInput("Only a tool with an apiCallUrl, or of an MCP server, can be tested")
}

async function mustFit({ services }: RequestContext, tool: AssistantTool, args: ToolArguments) {
  const details = await services.toolSchemas.faultsOfArguments(tool.companyId, tool.params, args)
  if (details.length > 0) throw new BadUserInput("The arguments do not fit the tool's params", details)
}
