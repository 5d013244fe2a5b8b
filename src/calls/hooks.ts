import { LockMode } from "@mikro-orm/postgresql"
import { execute } from "../assistant/execute.js"
import type { ToolArguments } from "../assistant/webhook.js"
import type { RequestContext } from "../context/request-context.js"
import { AssistantTool, type AssistantToolType } from "../entities/assistant-tool.js"
import { Call } from "../entities/call.js"
import { resultLost, ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { openEntry, recorded } from "./tool-call.js"

/** A webhook of a call that was sent, now or by a worker that was lost. */
export interface SentHook {
  tool: AssistantTool
  outcome: ToolOutcome
}

/** Tools without a URL have no request. */
const platformTool = (tool: AssistantTool) => tool.isSystem

/**
 * Calls the tools of a type for a call, each once and all at the same time, and returns their outcomes in the order of the tools. A worker that
 * resumes the call finds the log: what was sent is not sent again, and a result that was lost is an error. `holds` is the fence of the work.
 */
export async function sendHooks(
  context: RequestContext,
  callId: string,
  type: AssistantToolType & ("webhook_init" | "webhook_postcall"),
  params: ToolArguments,
  holds: (call: Call) => boolean,
): Promise<SentHook[] | null> {
  const opened = await context.transaction(async (tx) => {
    const call = await tx.em.findOne(Call, { id: callId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!call || !holds(call)) return null
    if (!call.assistantId) return []
    const order = { createdAt: "asc", id: "asc" } as const
    const tools = await tx.em.find(AssistantTool, { assistantId: call.assistantId, type, disabled: false }, { orderBy: order })
    const known = await tx.em.find(ToolCall, { callId, toolId: { $in: tools.map(({ id }) => id) } })
    return tools.map((tool) => {
      const before = known.find(({ toolId }) => toolId === tool.id)
      before?.endUnknown(resultLost)
      const entry = before ?? openEntry(call, tool.id, params)
      if (!before) tx.em.persist(entry)
      // The platform's own tool only writes the log.
      if (!before && platformTool(tool)) entry.complete({ success: true, status: null, latencyMs: 0, body: null, error: null })
      return { tool, entry }
    })
  })
  if (!opened) return null
  return Promise.all(opened.map(async ({ tool, entry }) => ({ tool, outcome: entry.outcome ?? (await send(context, tool, entry)) })))
}

async function send(context: RequestContext, tool: AssistantTool, entry: ToolCall): Promise<ToolOutcome> {
  return recorded(context, entry, await execute(context, tool, entry))
}
