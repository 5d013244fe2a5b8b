import type { RequestContext } from "../context/request-context.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import type { Chat } from "../entities/chat.js"
import { setChatTags } from "../entities/kit/system-tools.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { type Detail, RateLimited } from "../errors/errors.js"
import { traced } from "../observability/tracing.js"
import type { ModelToolCall } from "../ports/text-model.js"
import { requestOfClient } from "./client-call.js"
import { execute } from "./execute.js"
import { tagChat } from "./tag-chat.js"
import { behindFence, type CallingTurn, lockedChat, open, record, stillOffered } from "./tool-log.js"
import { type ModelToolResult, noSuchTool } from "./tool-loop.js"
import { openAtOnce, recordAtOnce } from "./tool-statements.js"
import type { OfferedTool } from "./tools.js"
import { shownToModel, type ToolArguments } from "./webhook.js"

/** Executes a call of the model once and returns its result; null when the turn was lost. */
export async function runTool(
  context: RequestContext,
  turn: CallingTurn,
  tool: OfferedTool,
  asked: ModelToolCall,
): Promise<ModelToolResult | null> {
  const faults = await faultsOf(context, tool, asked)
  const error = "The arguments do not fit: nothing was called"
  if (faults.length > 0)
    return runLocalTool(context, turn, tool, asked, async () => ({ outcome: failure(error), output: { error, faults } }))
  if (tool.isSystem && asked.name === setChatTags.name)
    return runLocalTool(context, turn, tool, asked, async (unit, chat) => {
      const output = { success: true, tags: await tagChat(unit, chat, (asked.arguments as { tags: string[] }).tags) }
      return { outcome: { success: true, status: null, latencyMs: 0, body: output, error: null }, output }
    })
  return runExternal(context, turn, tool, asked)
}

/** The faults of a call's arguments; while the company's budget for checks is used up, the model is told so. */
export async function faultsOf({ services, companyIds }: RequestContext, tool: OfferedTool, asked: ModelToolCall): Promise<Detail[]> {
  try {
    return await services.toolSchemas.faultsOfArguments(companyIds[0]!, tool.declaration.parameters as ToolArguments, asked.arguments)
  } catch (error) {
    if (error instanceof RateLimited) return [{ path: "params", message: error.message }]
    throw error
  }
}

const failure = (error: string): ToolOutcome => ({ success: false, status: null, latencyMs: 0, body: null, error })

type Work = (unit: UnitOfWork, chat: Chat) => Promise<ModelToolResult & { outcome: ToolOutcome }>

/** A call that waits for nothing: one transaction holds all of it. */
function runLocalTool(
  context: RequestContext,
  turn: CallingTurn,
  tool: OfferedTool,
  asked: ModelToolCall,
  work: Work,
): Promise<ModelToolResult | null> {
  return behindFence(context, turn, async (unit, chat) => {
    const row = await stillOffered(unit, tool)
    if (!row) return noSuchTool
    const call = await open(unit, chat, turn, row.id, asked)
    const { outcome, output } = await work(unit, chat)
    await record(unit, chat, call, outcome, output)
    return { output }
  })
}

/**
 * A call that waits for its response, outside any transaction. It is logged before it is sent, it is sent once, and its outcome is stored
 * before anything else: also when the chat was taken over meanwhile, and when this process is stopping.
 */
async function runExternal(
  context: RequestContext,
  turn: CallingTurn,
  tool: OfferedTool,
  asked: ModelToolCall,
): Promise<ModelToolResult | null> {
  const noted =
    (tool.type !== "webhook_client" && (await openAtOnce(context, turn, tool, asked))) ||
    (await behindFence(context, turn, async (unit, chat) => {
      const row = await stillOffered(unit, tool)
      if (!row) return noSuchTool
      const call = await open(unit, chat, turn, row.id, asked)
      if (row.type === "webhook_client") chat.asksClient(requestOfClient(chat, row, call))
      return { row, call }
    }))
  if (!noted || "output" in noted) return noted
  const { row, call } = noted
  const attributes = { "gen_ai.tool.name": row.name, "gen_ai.tool.type": row.type }
  const came = await traced("tool", attributes, () => execute(context, row, call))
  // A result with files locks them, in a transaction.
  const recorded = came && !came.mediaIds && (await recordAtOnce(context, turn, call, came, shownToModel(came)))
  if (recorded) return recorded.holds ? { output: shownToModel(came) } : null
  return context.transaction(async (tx) => {
    const chat = await lockedChat(tx.unit, turn.chatId)
    // The log entry is deleted with its tool; the output frame is still written.
    const entry = (await tx.unit.em.findOne(ToolCall, { id: call.id })) ?? call
    const outcome = entry.outcome ?? came
    if (!outcome) return null
    const output = shownToModel(outcome)
    await record(tx.unit, chat, entry, outcome, output)
    return chat?.holdsTurn(turn.id) ? { output } : null
  })
}
