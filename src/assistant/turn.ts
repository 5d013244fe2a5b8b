import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { AssistantTurn } from "../entities/assistant-turn.js"
import type { Chat } from "../entities/chat.js"
import { Subscription } from "../entities/company.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import { storableText } from "../entities/kit/storable.js"
import { resultLost, ToolCall } from "../entities/tool-call.js"
import { append } from "../messages/append.js"
import { ModelFailure, type TextModel } from "../ports/text-model.js"
import { holdLease } from "./lease.js"
import { type Memory, remember } from "./memory.js"
import { TurnProgress } from "./progress.js"
import { lockedChat, open, record } from "./tool-log.js"
import { type Conclusion, converse } from "./tool-loop.js"
import { handedOver, type OfferedTool, toolsOf } from "./tools.js"
import { Usage } from "./usage.js"

/** A turn that this worker has taken, with what the model is to read and may use, and what it has cost so far. */
export interface Turn {
  id: string
  chatId: string
  /** Rounds of tool calls that earlier workers had. */
  rounds: number
  memory: Memory
  tools: OfferedTool[]
  model: TextModel
  usage: Usage
  progress: TurnProgress
}

const system: Actor = { kind: "system", id: null }

/** Answers a chat whose reply is due; does nothing when it is not, or when another worker has taken the turn. */
export async function takeTurn(services: Services, companyId: string, chatId: string): Promise<void> {
  const context = systemContext(services, companyId, services.log.child({ chatId }))
  const turn = await claim(context, companyId, chatId)
  if (!turn) return
  const lease = holdLease(context, turn.chatId, turn.id, services.stopping)
  try {
    const came = await converse(context, turn, lease.signal)
    const isStored = await finish(context, turn, async (chat, unit) => came && conclude(unit, chat, turn, came))
    turn.progress.end(isStored ? (came?.text ?? null) : null)
  } catch (error) {
    turn.progress.end(null)
    if (!lease.signal.aborted) tell(context, turn, error)
    // Given back when this process stops: another may take it at once. Tried again later when the model failed.
    await finish(context, turn, (chat) => (services.stopping.aborted ? chat.releaseTurn(clock.now()) : chat.failTurn(clock.now(), system)))
  } finally {
    lease.end()
  }
}

/** The last transaction of a turn: what it cost is written in any case, the chat behind the fence; answers whether nobody took the turn away. */
async function finish(context: RequestContext, turn: Turn, end: (chat: Chat, unit: UnitOfWork) => unknown): Promise<boolean> {
  return context.transaction(async (tx) => {
    const chat = await lockedChat(tx.unit, turn.chatId)
    await turn.usage.write(tx.unit.em, turn.id)
    if (!chat?.holdsTurn(turn.id)) return false
    await end(chat, tx.unit)
    return true
  })
}

/** Takes the turn under a lease, and reads the chat in the same transaction. */
function claim(context: RequestContext, companyId: string, chatId: string): Promise<Turn | null> {
  return context.transaction(async (tx) => {
    const now = clock.now()
    const chat = await lockedChat(tx.unit, chatId)
    if (!chat?.isTurnDue(now)) return null
    await settleLost(tx.unit, chat.loseTurn())
    const subscription = await tx.unit.em.findOne(Subscription, { companyId: chat.companyId })
    if (!subscription?.isActiveAt(now)) {
      chat.turnAiOff("auto", system)
      return null
    }
    if (!chat.isAnsweredByAi) {
      chat.forgetReply()
      return null
    }
    // What was lost gets its frames before the chat is read.
    await tx.unit.flush()
    const { models, config } = context.services
    const memory = await remember(tx.unit, chat, now, config.contextWindowMs)
    const { assistant } = memory
    const tools = await toolsOf(tx.unit, assistant)
    // A model that is configured no more leaves its assistants to the default one.
    const model = models.find((each) => each.id === assistant.textModelId) ?? models[0]!
    const id = chat.takeTurn(now)
    tx.unit.em.persist(Object.assign(new AssistantTurn(), { id, companyId, chatId, assistantId: assistant.id, model: model.name }))
    const progress = new TurnProgress(context, chatId, id)
    return { id, chatId, rounds: chat.turnRounds, memory, tools, model, usage: new Usage(), progress }
  })
}

/** Calls that were under way when their worker was lost: nobody will ever hear what came of them (contract, section 6). */
async function settleLost(unit: UnitOfWork, callIds: string[]): Promise<void> {
  if (callIds.length === 0) return
  for (const call of await unit.em.find(ToolCall, { id: { $in: callIds } })) call.lose(resultLost)
}

/** Stores the answer, or the hand-over. */
async function conclude(unit: UnitOfWork, chat: Chat, turn: Turn, { text, handOver, sources }: Conclusion): Promise<void> {
  const said = storableText(text ?? "").trim()
  if (said) await append(unit, { chatId: chat.id, role: "Assistant", type: "Text", text: said, sources })
  if (!handOver) return chat.endTurn()
  const tool = turn.tools.find(({ row }) => row.name === handOver.name)!
  const call = await open(unit, chat, { ...turn, round: turn.rounds }, tool.row, handOver)
  const outcome = { success: true, status: null, latencyMs: 0, body: handedOver, error: null }
  await record(unit, chat, call, outcome, handedOver)
  chat.handOver({ kind: "assistant", id: turn.memory.assistant.id })
}

/** Says in the log why a turn was not answered. */
function tell(context: RequestContext, turn: Turn, error: unknown) {
  const { log } = context.request
  if (error instanceof ModelFailure) log.warn({ model: turn.model.name, reason: error.message }, "the model gave no answer")
  else log.error({ err: error }, "the turn failed")
}
