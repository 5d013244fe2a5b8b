import { LockMode } from "@mikro-orm/postgresql"
import { requestOnCall } from "../assistant/client-call.js"
import { execute } from "../assistant/execute.js"
import { stillOffered, storable } from "../assistant/tool-log.js"
import { type ModelToolResult, noSuchTool } from "../assistant/tool-loop.js"
import { faultsOf } from "../assistant/tool-run.js"
import type { OfferedTool } from "../assistant/tools.js"
import { shownToModel } from "../assistant/webhook.js"
import type { RequestContext } from "../context/request-context.js"
import { Call } from "../entities/call.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { traced } from "../observability/tracing.js"
import type { ModelToolCall } from "../ports/text-model.js"

/**
 * Executes a tool that the assistant calls on a live call, once: it is logged before it is sent, and its outcome is stored before anything
 * else. Returns null when the call is not live any more. `begin` runs in the transaction that logs the call.
 */
export async function runToolOnCall(
  context: RequestContext,
  callId: string,
  tool: OfferedTool,
  asked: ModelToolCall,
  begin: (call: Call, entry: ToolCall) => boolean = () => true,
): Promise<ModelToolResult | null> {
  const faults = await faultsOf(context, tool, asked)
  const noted = await context.transaction(async (tx) => {
    const call = await tx.em.findOne(Call, { id: callId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (call?.status !== "in_progress") return null
    const row = await stillOffered(tx.unit, tool)
    if (!row) return noSuchTool
    const entry = openEntry(call, row.id, storable(asked.arguments))
    if (!begin(call, entry)) return null
    tx.em.persist(entry)
    if (faults.length > 0) entry.complete(failure("The arguments do not fit: nothing was called"))
    else if (row.type === "webhook_client") call.asksClient(requestOnCall(callId, row, entry))
    return { row, entry }
  })
  if (!noted || "output" in noted) return noted
  const { row, entry } = noted
  if (faults.length > 0) return { output: { error: entry.error, faults } }
  const attributes = { "gen_ai.tool.name": row.name, "gen_ai.tool.type": row.type }
  const came = await traced("tool", attributes, () => execute(context, row, entry))
  return { output: shownToModel(await recorded(context, entry, came)) }
}

const failure = (error: string): ToolOutcome => ({ success: false, status: null, latencyMs: 0, body: null, error })

/** A pending entry in the log of tool calls. */
export const openEntry = ({ companyId, id: callId }: Call, toolId: string, params: unknown): ToolCall =>
  Object.assign(new ToolCall(), { companyId, callId, toolId, params })

/** Stores the outcome of a call; returns the one that holds, since a client or another instance may have been first. */
export function recorded(context: RequestContext, { id }: ToolCall, came: ToolOutcome | null): Promise<ToolOutcome> {
  return context.transaction(async (tx) => {
    const entry = await tx.em.findOne(ToolCall, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (came) entry?.complete(came)
    return entry?.outcome ?? came ?? failure("The result is unknown")
  })
}
