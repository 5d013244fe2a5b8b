import { showTyping } from "../channels/typing.js"
import { type Lease, LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import type { Actor } from "../entities/control-change.js"
import type { Failure } from "../entities/kit/work-state.js"
import { recordHits } from "../guardrails/hits.js"
import { append } from "../messages/append.js"
import { traced } from "../observability/tracing.js"
import { ModelFailure } from "../ports/text-model.js"
import { storeAnswerAtOnce } from "./answer.js"
import { type ClaimedTurn, system } from "./claim.js"
import { type AssistantConfiguration, configurationOf } from "./configuration.js"
import { type Guarded, runGuarded } from "./guarded.js"
import { notesOf } from "./notes.js"
import { TurnProgress } from "./progress.js"
import { open, record } from "./tool-log.js"
import { answerOf } from "./tool-loop.js"
import { runTool } from "./tool-run.js"
import { handedOver } from "./tools.js"

/** A running turn: what the model is given, and the progress that subscribers receive. */
interface Turn extends ClaimedTurn {
  configuration: AssistantConfiguration
  /** Sentences about hand-offs and returns. */
  notes: string[]
  progress: TurnProgress
}

/** Answers a chat: calls the model, and stores its answer unless the turn was taken away. */
export const answerChat = (lease: Lease<Chat>, claimed: ClaimedTurn): Promise<void> =>
  traced("turn", { "platform.chat_id": claimed.chatId, "gen_ai.request.model": claimed.model.name }, () => answer(lease, claimed))

async function answer(lease: Lease<Chat>, claimed: ClaimedTurn): Promise<void> {
  const { context } = lease
  const { metrics } = context.services
  const progress = new TurnProgress(context, claimed.chatId, claimed.id)
  using _typing = showTyping(context, claimed.chatId, claimed.messenger)
  try {
    const turn = await prepare(context, claimed, progress)
    const found = await runGuarded(
      turn,
      context.services.models,
      (tool, call, round) => runTool(context, { id: turn.id, chatId: turn.chatId, round }, tool, call),
      lease.signal,
    )
    if (!found) throw new LeaseLost()
    const conclusion = withHandOffMessage(turn, found)
    const isStored =
      (await storeAnswerAtOnce(context, turn, conclusion)) || (await lease.store((chat, tx) => conclude(tx.unit, chat, turn, conclusion)))
    progress.end(isStored ? conclusion.text : null)
    metrics.turns.inc({ outcome: !isStored ? "lost" : handsOver(conclusion) ? "handed_off" : "answered" })
  } catch (error) {
    progress.end(null)
    metrics.turns.inc({ outcome: error instanceof LeaseLost ? "lost" : lease.signal.aborted ? "released" : "failed" })
    throw error
  }
}

/** Reads what the turn needs beside the messages of its chat. */
async function prepare(context: RequestContext, claimed: ClaimedTurn, progress: TurnProgress): Promise<Turn> {
  const configuration = await configurationOf(context, claimed.assistantId, claimed.version)
  const notes = claimed.hasNotes ? await context.transaction((tx) => notesOf(tx.em, claimed)) : []
  const { guard } = configuration
  if (guard) progress.shownOf = (text) => guard.shownOf(text)
  return { ...claimed, configuration, notes, progress }
}

/** Logs why a turn was not answered; every failure is retried. */
export function turnFailure({ request: { log } }: RequestContext, error: unknown, turn: ClaimedTurn): Failure {
  if (error instanceof ModelFailure) log.warn({ model: turn.model.name, reason: error.message }, "the model returned no answer")
  else log.error({ err: error }, "the turn failed")
  return { reason: "The model gave no answer" }
}

/** Turns AI off after too many failures, so that a person answers; the customer is told what the assistant says on a hand-off. */
export async function giveTurnUp(chat: Chat, _failure: Failure, { em, unit }: RequestContext): Promise<void> {
  const assistant = chat.isAnsweredByAi ? await em.findOne(Assistant, { id: chat.assistantId }) : null
  chat.turnAiOff("auto", system)
  const text = answerOf(assistant?.handOffMessage ?? null)
  if (!text) return
  // After the change of AI control, which withdraws answers that wait for their delivery.
  await unit.flush()
  await append(unit, { chatId: chat.id, role: "Assistant", type: "Text", text })
}

const handsOver = ({ handOver, isStopped }: Guarded) => handOver !== null || isStopped

/** A conclusion with what the customer is told: on a hand-off without a text of the model, the message of the assistant for it. */
function withHandOffMessage({ configuration }: Turn, conclusion: Guarded): Guarded {
  if (!handsOver(conclusion) || answerOf(conclusion.text)) return conclusion
  return { ...conclusion, text: configuration.settings.handOffMessage }
}

/** Stores the answer or the hand-off, and what the guardrails found. */
async function conclude(unit: UnitOfWork, chat: Chat, turn: Turn, conclusion: Guarded): Promise<void> {
  const { text, handOver, isStopped, sources, findings } = conclusion
  const answer = answerOf(text)
  const message = answer ? await append(unit, { chatId: chat.id, role: "Assistant", type: "Text", text: answer, sources }) : null
  const { companyId, id: chatId } = chat
  recordHits(unit.em, { companyId, chatId, callId: null, assistantId: turn.assistantId, answerId: message?.id ?? null }, findings)
  const assistant: Actor = { kind: "assistant", id: turn.assistantId }
  if (!handsOver(conclusion)) return chat.endTurn()
  if (isStopped || !handOver) return chat.handOver(assistant, "guardrail")
  const tool = turn.configuration.tools.find(({ declaration }) => declaration.name === handOver.name)!
  const call = await open(unit, chat, { ...turn, round: turn.rounds }, tool.id, handOver)
  const outcome = { success: true, status: null, latencyMs: 0, body: handedOver, error: null }
  await record(unit, chat, call, outcome, handedOver)
  chat.handOver(assistant)
}
