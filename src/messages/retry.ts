import type { RequestContext } from "../context/request-context.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Message } from "../entities/message.js"
import { MessagePart } from "../entities/message-part.js"
import { BadUserInput, NotFound } from "../errors/errors.js"

/**
 * Queues a failed message again: all attempts start again, after the parts that the channel has taken. One that the channel took whole, and
 * reported as failed later, is sent whole again. What is in doubt stays in doubt.
 */
export async function retryMessage(tx: RequestContext, id: string): Promise<Message> {
  const { em } = tx
  const found = await em.findOne(Message, { id })
  if (!found) throw new NotFound("Message")
  // The chat is locked first, as everywhere.
  const chat = found.chatId ? await tx.find(Chat, found.chatId) : null
  const message = await tx.find(Message, id)
  if (!chat || message.status !== "failed") throw new BadUserInput(`Only a failed message can be sent again; this one is ${message.status}`)
  const state = await em.findOne(ChannelMessage, { messageId: id })
  if (state) Object.assign(state, { failures: 0, isWithdrawn: false, queuedAt: clock.now() })
  if (state && message.sentAt) {
    state.accepted = []
    em.remove(await em.find(MessagePart, { messageId: id }))
  }
  message.retry()
  chat.keepUpdatedAt()
  chat.expectWork(chat.delivery, clock.now())
  return message
}
