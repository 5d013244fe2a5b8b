import type { Unit } from "../database/unit.js"
import { Assistant } from "../entities/assistant.js"
import type { Chat } from "../entities/chat.js"
import { ControlChange } from "../entities/control-change.js"
import { Knowledge } from "../entities/knowledge.js"
import { Message } from "../entities/message.js"
import type { ModelMessage } from "../ports/text-model.js"

/** What an assistant knows when it reads a chat. */
export interface Memory {
  assistant: Assistant
  knowledge: { name: string; content: string }[]
  messages: ModelMessage[]
  /** Hand-offs and returns within the window, in words. */
  notes: string[]
}

/** Reads the chat as the assistant is to see it: the messages of the window that are not archived, and what it knows. */
export async function remember(unit: Unit, chat: Chat, now: Date, windowMs: number): Promise<Memory> {
  const { em } = unit
  const since = { $gte: new Date(now.getTime() - windowMs) }
  const assistant = await em.findOneOrFail(Assistant, { id: chat.assistantId! })
  const items = await em.find(Knowledge, { assistantId: assistant.id, isVector: false }, { orderBy: { createdAt: "asc", id: "asc" } })
  const messages = await em.find(Message, { chatId: chat.id, contextId: null, createdAt: since }, { orderBy: { sequence: "asc" } })
  const changes = await em.find(ControlChange, { chatId: chat.id, createdAt: since }, { orderBy: { createdAt: "asc", id: "asc" } })
  return {
    assistant,
    knowledge: items.map((item) => ({ name: item.name, content: item.resourceContent ?? "" })),
    messages: messages.flatMap(asModelMessage),
    notes: changes.map(inWords),
  }
}

const speakers = { Customer: "customer", Assistant: "assistant", User: "person" } as const

function asModelMessage(message: Message): ModelMessage[] {
  const { functionCall: call, functionCallOutput: result } = message
  if (call) return [{ role: "call", callId: call.callId, name: call.name, arguments: call.arguments }]
  if (result) return [{ role: "result", callId: result.callId, name: "", output: result.output }]
  if (message.role === "System" || !message.text) return []
  return [{ role: speakers[message.role], text: message.text }]
}

function inWords(change: ControlChange): string {
  const time = change.createdAt.toISOString().slice(11, 16)
  if (change.isUnderAiControl) return `At ${time} UTC the chat was given to you.`
  if (change.actorKind === "assistant") return `At ${time} UTC you handed the chat over to a human colleague.`
  return `At ${time} UTC a human colleague took the chat over.`
}
