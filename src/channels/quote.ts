import type { RequestContext } from "../context/request-context.js"
import type { Chat } from "../entities/chat.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Message } from "../entities/message.js"
import { MessagePart } from "../entities/message-part.js"
import { messageReadModel } from "../schema/message.js"

/** The quoted message as an event shows it, by the ID of the message or of any of its parts on the channel, or by ours; null when unknown. */
export async function quotedRow(tx: RequestContext, chat: Chat, externalId: string): Promise<{ id: string } | null> {
  const { em, reader, services } = tx
  const part = await em.findOne(MessagePart, { chatId: chat.id, externalId })
  const message = part
    ? null
    : await em.findOne(Message, { chatId: chat.id, $or: [{ externalId }, ...(isUuid(externalId) ? [{ id: externalId }] : [])] })
  const id = part?.messageId ?? message?.id
  if (!id) return null
  const [row] = await reader.list(messageReadModel, services.snapshotOf("Message")["replyTo"]!, (query) =>
    query.where("t.id", "=", id).where("t.chat_id", "=", chat.id),
  )
  return (row as { id: string } | undefined) ?? null
}
