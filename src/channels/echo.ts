import type { RequestContext } from "../context/request-context.js"
import { ChannelMessage } from "../entities/channel-message.js"
import type { Chat } from "../entities/chat.js"
import type { Actor } from "../entities/control-change.js"
import { clock } from "../entities/kit/clock.js"
import { Message } from "../entities/message.js"
import { MessagePart } from "../entities/message-part.js"
import { append, type MessageDraft } from "../messages/append.js"
import type { IncomingMessage } from "../ports/channel.js"
import type { HookConnection } from "./hook-connection.js"
import { waitingRow } from "./item-row.js"
import { channelLimits } from "./limits.js"
import { applyReceipt } from "./receipts.js"

/** A person in the vendor's own app, whom the server does not know. */
const inVendorsApp: Actor = { kind: "system", id: null }

/**
 * Whether an echo is not stored now: it is that of a message that this server sent, or it has to wait because a message of the chat is being
 * sent, whose ID is not known yet. The chat is locked.
 */
export async function isHandled(tx: RequestContext, connection: HookConnection, chat: Chat, item: IncomingMessage): Promise<boolean> {
  const { em } = tx
  if (item.partId) {
    await applyReceipt(tx, chat, { kind: "receipt", status: "sent", partId: item.partId, externalId: item.externalId })
    return true
  }
  if (await em.findOne(MessagePart, { chatId: chat.id, externalId: item.externalId })) return true
  const doubtful = await em.findOne(ChannelMessage, { chatId: chat.id, sendingSince: { $ne: null } })
  if (doubtful && (await isEchoOf(tx, chat, doubtful, item))) return true
  if (!chat.delivery.runId && !doubtful) return false
  em.persist(waitingRow(connection, { item, chatId: chat.id }, channelLimits.echoWaitMs))
  return true
}

/** Stores a message that a person wrote in the vendor's own app: the person has taken the chat over. */
export async function appendEcho({ unit }: RequestContext, chat: Chat, draft: Omit<MessageDraft, "chatId" | "role">) {
  if (chat.isUnderAiControl) chat.turnAiOff("auto", inVendorsApp, "person")
  await unit.flush()
  return append(unit, { ...draft, chatId: chat.id, role: "User", status: "sent" })
}

/** Whether this is the echo of a message whose request got no response: the channel took it. */
async function isEchoOf(
  { em }: RequestContext,
  chat: Chat,
  state: ChannelMessage,
  { externalId, text }: IncomingMessage,
): Promise<boolean> {
  const message = await em.findOne(Message, { id: state.messageId, status: "queued" })
  if (!message?.text || message.text !== text || state.accepted.length > 0) return false
  state.accepted = [externalId]
  state.sendingSince = null
  if (!chat.delivery.runId) chat.expectWork(chat.delivery, clock.now())
  return true
}
