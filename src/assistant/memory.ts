import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { Knowledge } from "../entities/knowledge.js"
import { Message } from "../entities/message.js"
import type { ModelMessage } from "../ports/text-model.js"
import { assistantLimits } from "./limits.js"
import { notesOf } from "./notes.js"

/** The input of a turn: messages, notes and knowledge. */
export interface Memory {
  assistant: Assistant
  knowledge: { id: string; name: string; content: string }[]
  messages: ModelMessage[]
  /** Sentences about hand-offs and returns. */
  notes: string[]
}

/** Reads the input of a turn: the unarchived messages of the context window, and the assistant's knowledge. */
export async function remember(unit: UnitOfWork, chat: Chat, now: Date, windowMs: number): Promise<Memory> {
  const { em } = unit
  // The unanswered burst is always included, however short the window is.
  const since = new Date(Math.min(now.getTime() - windowMs, chat.replyFirstAt?.getTime() ?? Number.POSITIVE_INFINITY))
  const assistant = await em.findOneOrFail(Assistant, { id: chat.assistantId! })
  const items = await em.find(Knowledge, { assistantId: assistant.id, isVector: false }, { orderBy: { createdAt: "asc", id: "asc" } })
  // Also by sequence, whose index finds the newest messages of a long chat.
  const newest = { $gt: chat.lastSequence - assistantLimits.contextMessages }
  const shown = { chatId: chat.id, contextId: null, createdAt: { $gte: since }, sequence: newest }
  const messages = await em.find(Message, shown, { orderBy: { sequence: "asc" } })
  return {
    assistant,
    knowledge: items.map((item) => ({ id: item.id, name: item.name, content: item.resourceContent ?? "" })),
    messages: asModelMessages(messages),
    notes: await notesOf(unit, chat, since, now),
  }
}

const speakers = { Customer: "customer", Assistant: "assistant", User: "person" } as const

function asModelMessages(messages: Message[]): ModelMessage[] {
  const names = new Map<string, string>()
  return messages.flatMap((message): ModelMessage[] => {
    const { functionCall: call, functionCallOutput: result, role, text } = message
    if (call) {
      names.set(call.callId, call.name)
      return [{ role: "call", callId: call.callId, name: call.name, arguments: call.arguments }]
    }
    if (result) return [{ role: "result", callId: result.callId, name: names.get(result.callId) ?? "", output: result.output }]
    return role === "System" || !text ? [] : [{ role: speakers[role], text }]
  })
}
