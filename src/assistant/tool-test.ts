import type { RequestContext } from "../context/request-context.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { storableJson } from "../entities/kit/storable.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput } from "../errors.js"
import { faultsOfArguments } from "./arguments.js"
import { callWebhook, type ToolArguments } from "./webhook.js"

/** Calls a tool's endpoint once as a test: logged before the request is sent, and its outcome after it. */
export async function testTool(context: RequestContext, id: string, given: ToolArguments): Promise<ToolOutcome> {
  // The arguments sent are those logged; arguments that are nested too deeply are refused below.
  const args = (storableJson(given) ?? given) as ToolArguments
  const { tool, callId } = await context.transaction(async (tx) => {
    const found = await tx.find(AssistantTool, id, "Tool")
    mustBeTestable(found, args)
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

function mustBeTestable(tool: AssistantTool, args: ToolArguments) {
  if (!tool.apiCallUrl || !tool.httpMethod) throw new BadUserInput("Only a tool with an apiCallUrl can be tested")
  const details = faultsOfArguments(tool.params, args)
  if (details.length > 0) throw new BadUserInput("The arguments do not fit the tool's params", details)
}
