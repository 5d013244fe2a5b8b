import type { RequestContext } from "../context/request-context.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Message, type MessageStatus } from "../entities/message.js"
import { MessagePart } from "../entities/message-part.js"
import type { Incoming } from "../ports/channel.js"
import type { HookConnection } from "./hook-connection.js"
import { channelLimits } from "./limits.js"

export type Receipt = Extract<Incoming, { kind: "receipt" }>

const order: MessageStatus[] = ["sent", "delivered", "read"]

/** Applies what a channel reports of messages that were sent; false when their message is not known yet. The chat must be locked. */
export async function applyReceipt(tx: RequestContext, chat: Chat, receipt: Receipt): Promise<boolean> {
  const { em } = tx
  if (receipt.upTo !== undefined) {
    await reportUpTo(tx, chat, receipt.status, receipt.upTo)
    return true
  }
  const part = receipt.externalId ? await em.findOne(MessagePart, { chatId: chat.id, externalId: receipt.externalId }) : null
  const message = await messageOf(tx, chat, receipt, part)
  if (!message) return false
  const failure =
    receipt.status === "failed" ? { code: receipt.errorCode ?? "REFUSED", reason: receipt.error ?? "The channel reports a failure" } : null
  if (message.status === "queued") return resolveDoubt(tx, chat, message, receipt)
  if (!part || failure) message.report(receipt.status, failure)
  else await reportPart(tx, message, part, receipt.status)
  return true
}

async function messageOf(
  { em }: RequestContext,
  chat: Chat,
  { messageId, partId, externalId }: Receipt,
  part: MessagePart | null,
): Promise<Message | null> {
  const id = part?.messageId ?? messageId ?? (partId ? messageIdOf(partId) : null)
  if (id) return isUuid(id) ? em.findOne(Message, { id, chatId: chat.id }) : null
  return externalId ? em.findOne(Message, { chatId: chat.id, externalId }) : null
}

/** The message of a part ID, `{message}-{position}`. */
export const messageIdOf = (partId: string) => partId.slice(0, partId.lastIndexOf("-"))

/** All parts have to be delivered, or read, before their message is. */
async function reportPart({ em }: RequestContext, message: Message, part: MessagePart, status: MessageStatus) {
  if (order.indexOf(status) > order.indexOf(part.status)) part.status = status
  const parts = await em.find(MessagePart, { messageId: message.id })
  const least = Math.min(...parts.map((each) => order.indexOf(each.status)))
  message.report(order[least] as "sent" | "delivered" | "read", null)
}

/** The channel reports a part whose request got no response, or not yet: it took the part. */
async function resolveDoubt({ em }: RequestContext, chat: Chat, message: Message, { partId, externalId }: Receipt): Promise<boolean> {
  const state = await em.findOne(ChannelMessage, { messageId: message.id })
  if (!state || !partId || !externalId) return false
  if (state.accepted.includes(externalId)) return false
  if (state.sendingSince && partId === `${message.id}-${state.accepted.length + 1}`) {
    state.accepted = [...state.accepted, externalId]
    state.sendingSince = null
    if (!chat.delivery.runId) chat.expectWork(chat.delivery, clock.now())
  }
  // What it reports beyond that is applied when the message is stored as sent.
  return false
}

async function reportUpTo({ em }: RequestContext, chat: Chat, status: Receipt["status"], watermark: number) {
  if (status !== "delivered" && status !== "read") return
  // A number is not yet a time: one that is too large for any date means all messages. Clocks may differ.
  const upTo = new Date(Math.min(Math.max(watermark, 0), clock.now().getTime() + channelLimits.hourMs))
  const earlier = status === "read" ? (["sent", "delivered"] as const) : (["sent"] as const)
  for (const message of await em.find(Message, { chatId: chat.id, status: { $in: [...earlier] }, sentAt: { $lte: upTo } }))
    message.report(status, null)
}

/** The chat that a receipt concerns, by the customer's ID, the part ID or the ID on the channel. */
export async function chatOfReceipt(
  tx: RequestContext,
  { companyId, messenger, externalId: fromId }: HookConnection,
  receipt: Receipt,
): Promise<string | null> {
  const { em } = tx
  const { messageId, partId, externalId } = receipt
  const id = messageId ?? (partId ? messageIdOf(partId) : null)
  const byId = isUuid(id) ? await em.findOne(Message, { id }) : null
  if (byId?.chatId) return byId.chatId
  if (!externalId) return null
  const where = { companyId, externalId, chatId: { $ne: null } }
  const candidates = [...(await em.find(Message, where, { limit: 20 })), ...(await em.find(MessagePart, where, { limit: 20 }))]
  const chats = await em.find(Chat, { id: { $in: candidates.map(({ chatId }) => chatId!) }, messenger, fromId })
  return chats[0]?.id ?? null
}
