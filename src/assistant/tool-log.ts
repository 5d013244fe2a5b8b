import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { Chat } from "../entities/chat.js"
import { storableJson, storableText } from "../entities/kit/storable.js"
import { outputFrame } from "../entities/message.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { append } from "../messages/append.js"
import type { ModelToolCall } from "../ports/text-model.js"
import type { OfferedTool } from "./tools.js"

/** The turn that calls, as far as its calls are concerned. */
export interface CallingTurn {
  id: string
  chatId: string
  /** The round of calls that is under way, counted from 1. */
  round: number
}

/** The chat, locked. */
export const lockedChat = (unit: UnitOfWork, chatId: string) =>
  unit.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Does something to the chat behind the fence; null when the turn was lost. */
export function behindFence<T>(
  context: RequestContext,
  turn: CallingTurn,
  work: (unit: UnitOfWork, chat: Chat) => Promise<T>,
): Promise<T | null> {
  return context.transaction(async (tx) => {
    const chat = await lockedChat(tx.unit, turn.chatId)
    return chat?.holdsTurn(turn.id) ? work(tx.unit, chat) : null
  })
}

/** The tool as it stands now, kept from being deleted or switched off until the call is noted; null when it was already. */
export const stillOffered = (unit: UnitOfWork, { row }: OfferedTool) =>
  unit.em.findOne(AssistantTool, { id: row.id, disabled: false }, { lockMode: LockMode.PESSIMISTIC_READ })

/** Notes a call in the log, as pending, and its first frame in the chat: committed before anything leaves. */
export async function open(unit: UnitOfWork, chat: Chat, turn: CallingTurn, tool: AssistantTool, asked: ModelToolCall): Promise<ToolCall> {
  const { companyId, id: chatId } = chat
  const params = storable(asked.arguments)
  const call = Object.assign(new ToolCall(), { companyId, chatId, toolId: tool.id, turnId: turn.id, params })
  unit.em.persist(call)
  chat.turnCallsTool(call.id, turn.round)
  const functionCall = { callId: call.id, name: tool.name, arguments: params }
  await append(unit, { chatId, role: "Assistant", type: "FunctionCall", functionCall })
  return call
}

/** Writes what came of a call: in the log, and as its second frame unless whoever ended the turn has closed it. The chat must be locked. */
export async function record(unit: UnitOfWork, chat: Chat | null, call: ToolCall, outcome: ToolOutcome, output: unknown): Promise<void> {
  call.settle(outcome)
  if (!chat?.turnHearsTool(call.id)) return
  await append(unit, outputFrame(chat.id, call.id, outcome.success ? "success" : "error", output))
}

/** What a model gave, as the database can keep it. */
const storable = (given: unknown): unknown => (typeof given === "string" ? storableText(given) : (storableJson(given) ?? {}))
