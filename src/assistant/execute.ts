import type { RequestContext } from "../context/request-context.js"
import type { AssistantTool, AssistantToolType } from "../entities/assistant-tool.js"
import type { ToolCall, ToolOutcome } from "../entities/tool-call.js"
import { callMcpTool } from "../mcp-servers/call.js"
import { awaitClient, awaitClientOnCall } from "./client-call.js"
import { searchFor } from "./search-call.js"
import { callWebhook, type ToolArguments } from "./webhook.js"

/** Runs a call that is logged, once, outside any transaction; the arguments sent are those logged. Null when the log has, or will have, the outcome. */
type Executor = (context: RequestContext, tool: AssistantTool, call: ToolCall, signal?: AbortSignal) => Promise<ToolOutcome | null>

const webhook: Executor = ({ services }, tool, call, signal) => callWebhook(services, tool, call.id, call.params as ToolArguments, signal)

/** How a tool of each type is run. */
const executors: Record<AssistantToolType, Executor> = {
  webhook_action: webhook,
  webhook_init: webhook,
  webhook_postcall: webhook,
  webhook_client(context, tool, call, signal) {
    if (call.callId) return awaitClientOnCall(context, tool, call)
    // A test asks the endpoint, where there is one: no client waits for it.
    return call.chatId ? awaitClient(context, tool, call) : webhook(context, tool, call, signal)
  },
  mcp: (context, tool, call, signal) => callMcpTool(context, tool, call, signal),
}

/** Executes a logged call of a tool of any type: in a chat, on a voice call, or as a test. */
export const execute: Executor = (context, tool, call, signal) =>
  tool.isSystem ? searchFor(context, tool, call) : executors[tool.type](context, tool, call, signal)
