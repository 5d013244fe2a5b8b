import type { RequestContext } from "../context/request-context.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { storableJson } from "../entities/kit/storable.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput } from "../errors.js"
import { callWebhook, type ToolArguments } from "./webhook.js"

/** Calls a tool's endpoint once as a test: logged before the request is sent, and its outcome after it. */
export async function testTool(context: RequestContext, id: string, given: ToolArguments): Promise<ToolOutcome> {
  // The arguments sent are those logged; arguments that are nested too deeply are refused below.
  const args = (storableJson(given) ?? given) as ToolArguments
  // Outside of the transaction that logs the call, since the check may wait.
  await mustFit(context, await context.transaction((tx) => testable(tx, id)), args)
  const { tool, callId } = await context.transaction(async (tx) => {
    const found = await testable(tx, id)
    const call = Object.assign(new ToolCall(), { companyId: found.companyId, toolId: found.id, params: args })
    tx.em.persist(call)
    return { tool: found, callId: call.id }
  })
  const outcome = await callWebhook(context.services, tool, callId, args, context.services.stopping)
  await context.transaction(async (tx) => {
    // The tool and its log may have been deleted meanwhile.
    const call = await tx.em.findOne(ToolCall, { id: callId })
    call?.complete(outcome)
  })
  return outcome
}

async function testable(tx: RequestContext, id: string): Promise<AssistantTool> {
  const tool = await tx.find(AssistantTool, id, "Tool")
  if (!tool.apiCallUrl || !tool.httpMethod) throw new BadUserInput("Only a tool with an apiCallUrl can be tested")
  return tool
}

async function mustFit({ services }: RequestContext, tool: AssistantTool, args: ToolArguments) {
  const details = await services.toolSchemas.faultsOfArguments(tool.companyId, tool.params, args)
  if (details.length > 0) throw new BadUserInput("The arguments do not fit the tool's params", details)
}
