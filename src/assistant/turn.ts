import { type Lease, LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { AssistantTurn } from "../entities/assistant-turn.js"
import type { Chat } from "../entities/chat.js"
import { Subscription } from "../entities/company.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import { storableText } from "../entities/kit/storable.js"
import type { Failure } from "../entities/kit/work-state.js"
import { resultLost, ToolCall } from "../entities/tool-call.js"
import { append } from "../messages/append.js"
import { traced } from "../observability/tracing.js"
import { ModelFailure, type TextModel } from "../ports/text-model.js"
import { type Memory, remember } from "./memory.js"
import { TurnProgress } from "./progress.js"
import { open, record } from "./tool-log.js"
import { type Conclusion, runToolLoop } from "./tool-loop.js"
import { handedOver, type OfferedTool, toolsOf } from "./tools.js"
import { Usage } from "./usage.js"

/** A turn that this worker has claimed: the input and the tools of the model, and the cost so far. */
export interface ClaimedTurn {
  id: string
  chatId: string
  /** Rounds of tool calls by earlier workers. */
  rounds: number
  memory: Memory
  tools: OfferedTool[]
  model: TextModel
  usage: Usage
}

/** A running turn with its progress, which subscribers receive. */
export interface Turn extends ClaimedTurn {
  progress: TurnProgress
}

const system: Actor = { kind: "system", id: null }

/** Claims a turn: ends open calls of an earlier worker, and reads the chat; null when no answer is needed. */
export async function beginTurn(tx: RequestContext, chat: Chat, id: string): Promise<ClaimedTurn | null> {
  const now = clock.now()
  await endLostCalls(tx.unit, chat.abortTurn("lost"))
  const { companyId, id: chatId } = chat
  const subscription = await tx.em.findOne(Subscription, { companyId })
  if (!subscription?.isActiveAt(now)) {
    chat.turnAiOff("auto", system)
    return null
  }
  if (!chat.isAnsweredByAi) {
    chat.cancelReply()
    return null
  }
  // The outputs of lost calls are written before the chat is read.
  await tx.unit.flush()
  const { models, config } = tx.services
  const memory = await remember(tx.unit, chat, now, config.contextWindowMs)
  const { assistant } = memory
  const tools = await toolsOf(tx.unit, assistant)
  // The default model replaces one that is no longer configured.
  const model = models.find((each) => each.id === assistant.textModelId) ?? models[0]!
  chat.beginTurn(now)
  tx.em.persist(Object.assign(new AssistantTurn(), { id, companyId, chatId, assistantId: assistant.id, model: model.name }))
  return { id, chatId, rounds: chat.turnRounds, memory, tools, model, usage: new Usage() }
}

/** Answers a chat: calls the model, and stores its answer unless the turn was taken away. */
export const answerChat = (lease: Lease<Chat>, claimed: ClaimedTurn): Promise<void> =>
  traced("turn", { "platform.chat_id": claimed.chatId, "gen_ai.request.model": claimed.model.name }, () => answer(lease, claimed))

async function answer(lease: Lease<Chat>, claimed: ClaimedTurn): Promise<void> {
  const { metrics } = lease.context.services
  const progress = new TurnProgress(lease.context, claimed.chatId, claimed.id)
  const turn: Turn = { ...claimed, progress }
  try {
    const conclusion = await runToolLoop(lease.context, turn, lease.signal)
    if (!conclusion) throw new LeaseLost()
    const isStored = await lease.store((chat, tx) => conclude(tx.unit, chat, turn, conclusion))
    progress.end(isStored ? conclusion.text : null)
    metrics.turns.inc({ outcome: !isStored ? "lost" : conclusion.handOver ? "handed_off" : "answered" })
  } catch (error) {
    progress.end(null)
    metrics.turns.inc({ outcome: error instanceof LeaseLost ? "lost" : lease.signal.aborted ? "released" : "failed" })
    throw error
  }
}

/** Logs why a turn was not answered; every failure is retried. */
export function turnFailure({ request: { log } }: RequestContext, error: unknown, turn: ClaimedTurn): Failure {
  if (error instanceof ModelFailure) log.warn({ model: turn.model.name, reason: error.message }, "the model returned no answer")
  else log.error({ err: error }, "the turn failed")
  return { reason: "The model gave no answer" }
}

/** Turns AI off after too many failures, so that a person answers. */
export const giveTurnUp = (chat: Chat) => chat.turnAiOff("auto", system)

/** Ends calls that were running when their worker was lost, because their results will never be known (contract, section 6). */
async function endLostCalls(unit: UnitOfWork, callIds: string[]): Promise<void> {
  if (callIds.length === 0) return
  for (const call of await unit.em.find(ToolCall, { id: { $in: callIds } })) call.endUnknown(resultLost)
}

/** Stores the answer or the hand-off. */
async function conclude(unit: UnitOfWork, chat: Chat, turn: Turn, { text, handOver, sources }: Conclusion): Promise<void> {
  const answer = storableText(text ?? "").trim()
  if (answer) await append(unit, { chatId: chat.id, role: "Assistant", type: "Text", text: answer, sources })
  if (!handOver) return chat.endTurn()
  const tool = turn.tools.find(({ row }) => row.name === handOver.name)!
  const call = await open(unit, chat, { ...turn, round: turn.rounds }, tool.row, handOver)
  const outcome = { success: true, status: null, latencyMs: 0, body: handedOver, error: null }
  await record(unit, chat, call, outcome, handedOver)
  chat.handOver({ kind: "assistant", id: turn.memory.assistant.id })
}
