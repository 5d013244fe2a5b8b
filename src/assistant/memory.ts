import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { Knowledge } from "../entities/knowledge.js"
import { Message } from "../entities/message.js"
import type { ModelMessage } from "../ports/text-model.js"
import { assistantLimits } from "./limits.js"
import { notesOf } from "./notes.js"

/** What an assistant knows when it reads a chat. */
export interface Memory {
  assistant: Assistant
  knowledge: { id: string; name: string; content: string }[]
  messages: ModelMessage[]
  /** Hand-offs and returns, in words. */
  notes: string[]
}

/** Reads the chat as the assistant is to see it: the messages of the window that are not archived, and what it knows. */
export async function remember(unit: UnitOfWork, chat: Chat, now: Date, windowMs: number): Promise<Memory> {
  const { em } = unit
  // The burst that is answered is always part of it, however short the window is.
  const since = new Date(Math.min(now.getTime() - windowMs, chat.replyFirstAt?.getTime() ?? Number.POSITIVE_INFINITY))
  const assistant = await em.findOneOrFail(Assistant, { id: chat.assistantId! })
  const items = await em.find(Knowledge, { assistantId: assistant.id, isVector: false }, { orderBy: { createdAt: "asc", id: "asc" } })
  // By place as well, which finds the newest of a long chat without looking at all of it.
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
