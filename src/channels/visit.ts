import { LockMode, type MikroORM } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import type { VisitorClaims } from "../context/json-web-token.js"
import { countNewChat } from "../context/rate-limit.js"
import { type RequestContext, type RequestInfo, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { Chat } from "../entities/chat.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Message, messageTypeOf } from "../entities/message.js"
import { Conflict, Unauthenticated } from "../errors/errors.js"
import { appendSql } from "../messages/append.js"
import { openInboundAtOnce } from "../messages/first-inbound.js"
import { appendInbound, type Inbound, inboundParts, repliesTo, tryInbound } from "../messages/inbound.js"
import { oncePer } from "../once-per.js"
import type { Connection } from "./connection.js"
import { attachVisitorsFiles } from "./visitor-files.js"

/** The client that sent a request, and the headers of its response. */
export type Sender = Pick<RequestInfo, "address" | "headers">

/** A visitor's message on a connection of the widget. */
export interface Visit {
  connectionId: string
  /** The chat that the visitor's token names. */
  chatId: string | null
  /** The key of the chat that the same message may have begun; null when repeated messages are not recognized. */
  key: string | null
  /** The visitor's name. */
  name: string | null
  draft: { type: "Text"; text: string | null; externalId: string | null }
  /** IDs of files that the visitor has uploaded. */
  mediaIds: string[]
  sender: Sender
}

/** Where a visitor's message is stored. */
export interface Stored {
  companyId: string
  chatId: string
  messageId: string
}

/**
 * Appends a message to the chat of the visitor's token by one statement; null, and nothing is stored, when anything about it is not the usual
 * case.
 */
export async function appendToVisitorsChat(services: Services, claims: VisitorClaims, visit: Visit): Promise<Stored | null> {
  const { connectionId, name, draft } = visit
  if (!isUuid(connectionId)) return null
  const { database, config } = services
  const context = systemContext(services, claims.cid)
  const statement = appendFromWidget(database.orm)
  const [row] = await tryInbound(context, statement, { ...draft, chatId: claims.sub }, config, [connectionId, name])
  return row ? { companyId: claims.cid, chatId: claims.sub, messageId: row.message.id } : null
}

const appendFromWidget = oncePer(
  (orm: MikroORM): Inbound => ({
    name: "append-from-widget",
    text: appendSql(orm, { ...inboundParts, where: inboundParts.where + ofWidget }),
    jobs: repliesTo,
  }),
)

/** Limits the statement to chats of an active connection of the widget, whose customer may still lack this name. */
const ofWidget = ` and messenger = 'widget' and (name is not null or $23::text is null)
        and exists (select from channel c where c.id = $22::uuid and c.is_active and c.messenger = chat.messenger
          and c.company_id = chat.company_id and c.external_id = chat.from_id)`

/** Stores a message in the visitor's chat, or in a new one for a visitor without a chat on the connection. */
export async function storeOnConnection(services: Services, connection: Connection, visit: Visit): Promise<Stored> {
  const { companyId, assistant, hasChat } = connection
  const context = systemContext(services, companyId)
  const { draft } = visit
  let admitted: Promise<void> | null = null
  const admit = () => (admitted ??= countNewChat(services.limits, connection.id, visit.sender))
  if (!hasChat && !visit.chatId) {
    await admit()
    const chat = newChat(connection, visit, assistant)
    const message = await openInboundAtOnce(context, chat, draft, services.config, connection)
    if (message) return { companyId, chatId: chat.id, messageId: message.id }
  }
  const store = () =>
    context.transaction(async (tx) => {
      const chat = await lockedChat(tx.unit, connection, visit, admit)
      const repeated = draft.externalId ? await tx.unit.em.findOne(Message, { chatId: chat.id, externalId: draft.externalId }) : null
      const { id } = repeated ?? (await appendInbound(tx.unit, chat, await withFiles(tx, chat, visit), services.config))
      return { companyId, chatId: chat.id, messageId: id }
    })
  // The unique index refused the second of two concurrent first messages: its chat exists now.
  return store().catch((error) => {
    if (error instanceof Conflict) return store()
    throw error
  })
}

/** The message with its files, the first of which decides its type. */
async function withFiles(tx: RequestContext, chat: Chat, { draft, mediaIds }: Visit) {
  const [first] = await attachVisitorsFiles(tx, chat, mediaIds)
  return first ? { ...draft, type: messageTypeOf(first.mimeType), mediaIds } : draft
}

/** The visitor's chat, locked; a new one for a visitor without a chat on the connection. Throws 401 when the chat was deleted. */
async function lockedChat(unit: UnitOfWork, connection: Connection, visit: Visit, admit: () => Promise<void>): Promise<Chat> {
  const { chatId, key, name } = visit
  const ours = { companyId: connection.companyId, messenger: "widget" as const, fromId: connection.externalId }
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const
  const own = chatId && (await unit.em.findOne(Chat, { id: chatId, ...ours }, locked))
  if (chatId && !own && (await unit.em.count(Chat, { id: chatId, companyId: connection.companyId })) === 0)
    throw new Unauthenticated("The visitor's chat was deleted: write without the token")
  const known = own || (key && (await unit.em.findOne(Chat, { externalId: key, ...ours }, locked)))
  if (known) return Object.assign(known, name && !known.name ? { name } : {})
  await admit()
  const kept = { lockMode: LockMode.PESSIMISTIC_READ } as const
  const assistant = connection.assistant && (await unit.em.findOne(Assistant, { id: connection.assistant.id }, kept))
  const chat = newChat(connection, visit, assistant)
  unit.em.persist(chat)
  return chat
}

/** A new chat of a visitor, with the connection's assistant if that can be assigned. */
function newChat({ companyId, externalId: fromId }: Connection, { key, name }: Visit, assistant: Assistant | null): Chat {
  const chat = Object.assign(new Chat(), { companyId, messenger: "widget", fromId, externalId: key ?? `visitor:${v7()}`, name })
  if (assistant?.isAssignable) chat.beginWith(assistant)
  return chat.opened()
}
