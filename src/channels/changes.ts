import type { RequestContext } from "../context/request-context.js"
import { ChannelMessage } from "../entities/channel-message.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Media } from "../entities/media.js"
import { Message } from "../entities/message.js"
import { MessageMedia } from "../entities/message-media.js"
import type { Incoming } from "../ports/channel.js"
import { messageText } from "./text.js"

/** A customer's change of a message. */
export type Change = Extract<Incoming, { kind: "edit" | "deletion" }>

/** Applies a customer's edit or deletion; false when the message is not known yet. Neither starts a turn. The chat must be locked. */
export async function applyChange(tx: RequestContext, chat: Chat, change: Change): Promise<boolean> {
  const { em } = tx
  const message = await em.findOne(Message, { chatId: chat.id, externalId: change.externalId, role: "Customer" })
  if (!message) return false
  const state = (await em.findOne(ChannelMessage, { messageId: message.id })) ?? ChannelMessage.of(message)
  em.persist(state)
  if (state.version >= deleted) return true
  if (change.kind === "edit") {
    const version = change.version ?? state.version
    if (version < state.version) return true
    state.version = version
    message.edit(messageText(change.text))
    return true
  }
  state.version = deleted
  const links = await em.find(MessageMedia, { messageId: message.id })
  for (const media of await em.find(Media, { id: { $in: links.map(({ mediaId }) => mediaId) } })) media.forgetAt = clock.now()
  em.remove(links)
  message.deleteByCustomer()
  return true
}

/** The version of a deleted message, which no edit follows. */
const deleted = Number.MAX_SAFE_INTEGER
