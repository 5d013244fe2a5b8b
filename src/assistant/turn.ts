import { LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { append } from "../database/append-message.js"
import type { Unit } from "../database/unit.js"
import { AssistantTurn } from "../entities/assistant-turn.js"
import { Chat } from "../entities/chat.js"
import { Subscription } from "../entities/company.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import { limits } from "../limits.js"
import { type ModelAnswer, ModelFailure, type ModelMessage, type TextModel } from "../ports/text-model.js"
import type { Services } from "../schema/kit/services.js"
import { systemViewer, type Viewer } from "../schema/kit/viewer.js"
import { holdLease } from "./lease.js"
import { type Memory, remember } from "./memory.js"
import { TurnProgress } from "./progress.js"
import { offeredTools, turnOffAiMode } from "./tools.js"
import { Usage } from "./usage.js"

/** A turn that this worker has taken, with what the model is to read, and what the model has cost so far. */
interface Turn {
  id: string
  chatId: string
  memory: Memory
  model: TextModel
  usage: Usage
  progress: TurnProgress
}

const system: Actor = { kind: "system", id: null }

/** Answers a chat whose reply is due; does nothing when it is not, or when another worker has taken the turn. */
export async function takeTurn(services: Services, companyId: string, chatId: string): Promise<void> {
  const viewer = systemViewer(services, companyId, services.log.child({ chatId }))
  const turn = await claim(viewer, companyId, chatId)
  if (!turn) return
  const lease = holdLease(viewer, turn.chatId, turn.id, services.stopping)
  try {
    const answer = await ask(turn, lease.signal)
    const isStored = await finish(viewer, turn, (chat, unit) => conclude(unit, chat, turn, answer))
    turn.progress.end(isStored ? answer.text : null)
  } catch (error) {
    turn.progress.end(null)
    if (!lease.signal.aborted) tell(viewer, turn, error)
    // Given back when this process stops: another may take it at once. Tried again later when the model failed.
    await finish(viewer, turn, (chat) => (services.stopping.aborted ? chat.releaseTurn(clock.now()) : chat.failTurn(clock.now(), system)))
  } finally {
    lease.end()
  }
}

/** The last transaction of a turn: what it cost is written in any case, the chat behind the fence; answers whether nobody took the turn away. */
async function finish(viewer: Viewer, turn: Turn, end: (chat: Chat, unit: Unit) => Promise<void> | void): Promise<boolean> {
  return viewer.change(async (_within, unit) => {
    const chat = await lockedChat(unit, turn.chatId)
    await turn.usage.write(unit.em, turn.id)
    if (!chat?.holdsTurn(turn.id)) return false
    await end(chat, unit)
    return true
  })
}

const lockedChat = (unit: Unit, chatId: string) => unit.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Takes the turn under a lease, and reads the chat in the same transaction. */
function claim(viewer: Viewer, companyId: string, chatId: string): Promise<Turn | null> {
  return viewer.change(async (_within, unit) => {
    const now = clock.now()
    const chat = await lockedChat(unit, chatId)
    if (!chat?.isTurnDue(now)) return null
    chat.loseTurn()
    const subscription = await unit.em.findOne(Subscription, { companyId: chat.companyId })
    if (!subscription?.isActiveAt(now)) {
      chat.turnAiOff("auto", system)
      return null
    }
    if (!chat.isAnsweredByAi) {
      chat.forgetReply()
      return null
    }
    const { models, config } = viewer.services
    const memory = await remember(unit, chat, now, config.contextWindowMs)
    const { assistant } = memory
    // A model that is configured no more leaves its assistants to the default one.
    const model = models.find((each) => each.id === assistant.textModelId) ?? models[0]!
    const id = chat.takeTurn(now)
    unit.em.persist(Object.assign(new AssistantTurn(), { id, companyId, chatId, assistantId: assistant.id, model: model.name }))
    return { id, chatId, memory, model, usage: new Usage(), progress: new TurnProgress(viewer, chatId, id) }
  })
}

/** Asks the model, outside of any transaction, until it answers in words or hands over. */
async function ask(turn: Turn, signal: AbortSignal): Promise<ModelAnswer> {
  const { assistant, knowledge, notes } = turn.memory
  const messages: ModelMessage[] = [...turn.memory.messages]
  const toolsUntil = clock.now().getTime() + limits.turnSeconds * 1000
  for (let round = 0; ; round += 1) {
    const tools = round < limits.toolRounds && clock.now().getTime() < toolsUntil ? offeredTools : []
    const told = {
      instructions: assistant.prompt,
      greeting: assistant.greeting,
      language: assistant.language,
      temperature: assistant.temperature,
    }
    const { onText } = turn.progress
    const answer = await turn.usage.counted(() => turn.model.answer({ ...told, knowledge, notes, messages, tools, signal, onText }))
    const handsOver = answer.toolCalls.some((call) => call.name === turnOffAiMode.name)
    if (handsOver || answer.toolCalls.length === 0) return answer
    if (tools.length === 0) throw new ModelFailure("The model keeps calling tools that it was not offered")
    for (const call of answer.toolCalls) {
      messages.push({ role: "call", callId: call.callId, name: call.name, arguments: call.arguments })
      messages.push({ role: "result", callId: call.callId, name: call.name, output: { error: "There is no such tool" } })
    }
  }
}

/** Stores the answer, or the hand-over. */
async function conclude(unit: Unit, chat: Chat, turn: Turn, answer: ModelAnswer): Promise<void> {
  const said = answer.text?.trim()
  if (said) await append(unit, { chatId: chat.id, role: "Assistant", type: "Text", text: said })
  const handOver = answer.toolCalls.find((call) => call.name === turnOffAiMode.name)
  if (!handOver) return chat.endTurn()
  const callId = v7()
  const { name, arguments: given } = handOver
  await append(unit, { chatId: chat.id, role: "Assistant", type: "FunctionCall", functionCall: { callId, name, arguments: given } })
  const output = { callId, output: turnOffAiMode.output, status: "success" as const }
  await append(unit, { chatId: chat.id, role: "Assistant", type: "FunctionCallOutput", functionCallOutput: output })
  chat.handOver({ kind: "assistant", id: turn.memory.assistant.id })
}

/** Says in the log why a turn was not answered. */
function tell(viewer: Viewer, turn: Turn, error: unknown) {
  const { log } = viewer.request
  if (error instanceof ModelFailure) log.warn({ model: turn.model.name, reason: error.message }, "the model gave no answer")
  else log.error({ err: error }, "the turn failed")
}
