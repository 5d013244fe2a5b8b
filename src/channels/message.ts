import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import type { ChatType } from "../entities/kit/chat-words.js"
import { Message } from "../entities/message.js"
import { append, type MessageDraft } from "../messages/append.js"
import { appendInbound } from "../messages/inbound.js"
import type { IncomingMessage } from "../ports/channel.js"
import { addIdentities, idsOf, lockedChat, type Stored } from "./customer-chat.js"
import { applyEarly, applyMissed } from "./early.js"
import { appendEcho, isHandled } from "./echo.js"
import { announceFiles } from "./files.js"
import type { HookConnection } from "./hook-connection.js"
import { itemRow, waitingRow } from "./item-row.js"
import { appendToKnownChat } from "./known-customer.js"
import { channelLimits } from "./limits.js"
import { quotedRow } from "./quote.js"
import { messageText, storableName } from "./text.js"

/** The name of a customer, which the channel does not send with messages. */
export interface ProfileItem {
  kind: "profile"
  customer: string
}

/** A message that is stored already: in a chat of the customer, or ($6) in any chat of the connection. */
const storedMessage: Statement<{ id: string; chat_id: string }> = {
  name: "stored-message",
  text: `
    with known as (
      select id from chat where company_id = $1 and messenger = $2 and from_id = $3 and external_id = any($4::text[])
      union all
      select chat_id from chat_identity where company_id = $1 and messenger = $2 and from_id = $3 and external_id = any($4::text[])
    )
    select m.id, m.chat_id from known join message m on m.chat_id = known.id and m.external_id = $5 where m.company_id = $1 and not $6
    union all
    select m.id, m.chat_id from message m join chat c on c.id = m.chat_id and c.company_id = m.company_id
    where $6 and m.company_id = $1 and m.external_id = $5 and c.messenger = $2 and c.from_id = $3
    limit 1`,
}

/** Stores a message of a channel once; null for an echo that is not stored. */
export async function receiveMessage(
  context: RequestContext,
  connection: HookConnection,
  item: IncomingMessage,
  raw: unknown,
): Promise<Stored | null> {
  const { companyId, messenger, externalId: fromId, id } = connection
  const appended = await appendToKnownChat(context, connection, item, draftOf(item))
  if (appended) {
    await applyMissed(context, appended.chatId, id, [item.externalId])
    return appended
  }
  const isUniqueOnConnection = context.services.channels.adapter(messenger)?.hasOwnIds === true
  const values = [companyId, messenger, fromId, idsOf(item.chat), item.externalId, isUniqueOnConnection]
  const [stored] = await context.statement(storedMessage, values)
  if (stored) return { chatId: stored.chat_id, messageId: stored.id }
  return context.transaction((tx) => storeMessage(tx, connection, item, raw))
}

const draftOf = ({ text, externalId, sender }: IncomingMessage) =>
  ({
    type: "Text",
    text: text === null ? null : messageText(text),
    externalId,
    sender: sender ? { ...sender, name: storableName(sender.name) } : null,
  }) as const

async function storeMessage(tx: RequestContext, connection: HookConnection, item: IncomingMessage, raw: unknown): Promise<Stored | null> {
  const { em, unit } = tx
  const keys = idsOf(item.chat)
  const found = await lockedChat(tx, connection, keys)
  if (!found && item.isEcho) return null
  const chat = found ?? (await openChat(tx, connection, item))
  complete(chat, item, found !== null)
  const repeated = await em.findOne(Message, { chatId: chat.id, externalId: item.externalId })
  if (repeated) return { chatId: chat.id, messageId: repeated.id }
  if (item.isEcho && (await isHandled(tx, connection, chat, item))) return null
  const files = announceFiles(tx, connection, item)
  const replyTo = item.quoted ? await quotedRow(tx, chat, item.quoted) : null
  await unit.flush()
  await addIdentities(tx, chat, keys)
  const draft: Omit<MessageDraft, "chatId" | "role"> = { ...draftOf(item), ...files, replyTo }
  const { id } = item.isEcho ? await appendEcho(tx, chat, draft) : await appendOf(tx, chat, item, draft)
  if (item.data !== undefined) em.persist(ChannelMessage.of({ id, companyId: chat.companyId, chatId: chat.id }, { data: item.data }))
  if (item.isUnsupported) {
    const kept = { externalId: item.externalId, item: raw ?? item, chatId: chat.id }
    em.persist(itemRow(connection, "unsupported", kept, channelLimits.unsupportedItemMs))
  }
  await applyEarly(tx, chat, connection.id, [item.externalId])
  return { chatId: chat.id, messageId: id }
}

/** Appends a customer's message; automatic mail starts no turn. */
const appendOf = (tx: RequestContext, chat: Chat, item: IncomingMessage, draft: Omit<MessageDraft, "chatId" | "role">) =>
  item.isAutomatic
    ? append(tx.unit, { ...draft, chatId: chat.id, role: "Customer" })
    : appendInbound(tx.unit, chat, draft, tx.services.config)

/** A new chat of a customer, with the connection's assistant if it is private and the assistant can be assigned. */
async function openChat({ em, services }: RequestContext, connection: HookConnection, { chat: given }: IncomingMessage): Promise<Chat> {
  const { companyId, messenger, externalId: fromId, assistantId } = connection
  const chatType: ChatType = given.isGroup ? "group" : "private"
  const lockMode = LockMode.PESSIMISTIC_READ
  const assistant = assistantId && !given.isGroup ? await em.findOne(Assistant, { id: assistantId }, { lockMode }) : null
  const chat = Object.assign(new Chat(), { companyId, messenger, fromId, externalId: given.externalId, chatType })
  chat.accountName = connection.account.name
  if (assistant?.isAssignable) chat.beginWith(assistant)
  em.persist(chat)
  if (!given.name && !given.isGroup && services.channels.adapter(messenger)?.profile)
    em.persist(waitingRow(connection, { item: profileOf(chat), chatId: chat.id }))
  return chat.opened()
}

/** What a job asks the channel for: the name of a chat's customer. */
const profileOf = ({ externalId }: Chat): ProfileItem => ({ kind: "profile", customer: externalId! })

/** Stores what the channel says of the customer and the chat does not have yet; the user name follows the channel. */
function complete(chat: Chat, { chat: given }: IncomingMessage, isKnown: boolean) {
  const before = [chat.name, chat.username, chat.phoneNumber].join("\n")
  chat.name ??= storableName(given.name)
  chat.username = storableName(given.username) ?? chat.username
  chat.phoneNumber ??= storableName(given.phoneNumber)
  if (isKnown && before !== [chat.name, chat.username, chat.phoneNumber].join("\n")) chat.changed()
}
