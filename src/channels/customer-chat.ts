import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import { ChatIdentity } from "../entities/chat-identity.js"
import type { ChannelChat } from "../ports/channel.js"
import type { HookConnection } from "./hook-connection.js"

/** Where a message was stored. */
export interface Stored {
  chatId: string
  messageId: string
}

/** The chat of a customer on a connection, by any of their IDs; locked. */
export async function lockedChat({ em }: RequestContext, connection: HookConnection, externalIds: string[]): Promise<Chat | null> {
  const { companyId, messenger, externalId: fromId } = connection
  const key = { companyId, messenger, fromId, externalId: { $in: externalIds } }
  const lockMode = LockMode.PESSIMISTIC_WRITE
  const own = await em.findOne(Chat, key, { lockMode })
  if (own) return own
  const identity = await em.findOne(ChatIdentity, key)
  return identity && em.findOne(Chat, { id: identity.chatId }, { lockMode })
}

/** All IDs of a customer that a channel names. */
export const idsOf = ({ externalId, alsoKnownAs = [] }: ChannelChat) => [externalId, ...alsoKnownAs]

/** Stores further IDs of a chat's customer. */
export async function addIdentities({ em }: RequestContext, chat: Chat, externalIds: string[]) {
  const { id: chatId, companyId, messenger, fromId } = chat
  const others = externalIds.filter((id) => id !== chat.externalId)
  if (others.length === 0) return
  const known = await em.find(ChatIdentity, { companyId, messenger, fromId, externalId: { $in: others } })
  for (const externalId of others.filter((id) => !known.some((each) => each.externalId === id)))
    em.persist(Object.assign(new ChatIdentity(), { chatId, companyId, messenger, fromId, externalId }))
}
