import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { Chat } from "../entities/chat.js"
import { storableJson, storableText } from "../entities/kit/storable.js"
import { outputFrame } from "../entities/kit/tool-frames.js"
import { Media } from "../entities/media.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { append } from "../messages/append.js"
import type { ModelToolCall } from "../ports/text-model.js"
import type { OfferedTool } from "./tools.js"

/** The turn that makes a call. */
export interface CallingTurn {
  id: string
  chatId: string
  /** The current round of calls, counted from 1. */
  round: number
}

/** The chat, locked. */
export const lockedChat = (unit: UnitOfWork, chatId: string) =>
  unit.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Runs `work` on the locked chat behind the fence; returns null when the turn was lost. */
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

/** The tool, locked against deletion and switching off until the call is logged; null when it is gone or switched off. */
export const stillOffered = (unit: UnitOfWork, { id }: OfferedTool) =>
  unit.em.findOne(AssistantTool, { id, disabled: false }, { lockMode: LockMode.PESSIMISTIC_READ })

/** Writes a pending call to the log and its call frame to the chat; committed before the request is sent. */
export async function open(unit: UnitOfWork, chat: Chat, turn: CallingTurn, toolId: string, asked: ModelToolCall): Promise<ToolCall> {
  const { companyId, id: chatId } = chat
  const params = storable(asked.arguments)
  const call = Object.assign(new ToolCall(), { companyId, chatId, toolId, turnId: turn.id, params })
  unit.em.persist(call)
  chat.openToolCall(call.id, turn.round)
  const functionCall = { callId: call.id, name: asked.name, arguments: params }
  await append(unit, { chatId, role: "Assistant", type: "FunctionCall", functionCall })
  return call
}

/** Writes a call's outcome to the log, and its output frame unless the end of the turn has closed it. The chat must be locked. */
export async function record(unit: UnitOfWork, chat: Chat | null, call: ToolCall, outcome: ToolOutcome, output: unknown): Promise<void> {
  call.complete(outcome)
  if (!chat?.closeToolCall(call.id)) return
  const frame = outputFrame(chat.id, call.id, outcomeStatus(outcome), output)
  await append(unit, outcome.mediaIds ? { ...frame, mediaIds: await attached(unit, outcome.mediaIds) } : frame)
}

/** Locks files for the message that gets them; returns the IDs of those that are still there. */
async function attached(unit: UnitOfWork, ids: string[]): Promise<string[]> {
  const files = await unit.em.find(Media, { id: { $in: ids } }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: "asc" } })
  for (const file of files) file.attach()
  // Before the message is appended, whose event shows the files as they are stored.
  await unit.flush()
  return files.map(({ id }) => id)
}

/** The status of a call with this outcome. */
export const outcomeStatus = ({ success }: ToolOutcome) => (success ? "success" : "error")

/** A model's arguments in a form that PostgreSQL can store. */
export const storable = (given: unknown): unknown => (typeof given === "string" ? storableText(given) : (storableJson(given) ?? {}))
