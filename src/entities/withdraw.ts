import type { EntityManager } from "@mikro-orm/postgresql"
import { ChannelMessage } from "./channel-message.js"
import type { DomainEvent } from "./kit/row.js"
import { Message } from "./message.js"

/**
 * Cancels the queued messages of the assistant, because AI was turned off. One whose request is under way may arrive; it is not tried again.
 */
export async function withdrawQueuedAnswers(em: EntityManager, chatId: string, isSending: boolean): Promise<DomainEvent[]> {
  const queued = await em.find(Message, { chatId, role: "Assistant", status: "queued" })
  if (queued.length === 0) return []
  const started = isSending
    ? await em.find(ChannelMessage, { messageId: { $in: queued.map(({ id }) => id) }, sendingSince: { $ne: null } })
    : []
  for (const state of started) state.isWithdrawn = true
  const onTheWire = new Set(started.map(({ messageId }) => messageId))
  const cancelled = queued.filter(({ id }) => !onTheWire.has(id))
  for (const message of cancelled) message.status = "cancelled"
  return cancelled.map((message) => ({
    type: "MESSAGE_UPDATED",
    companyId: message.companyId,
    chatId,
    payload: { row: "Message", id: message.id },
  }))
}
