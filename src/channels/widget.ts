import { createHash } from "node:crypto"
import { LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { z } from "zod"
import { sign, verify } from "../context/json-web-token.js"
import { countNewChat } from "../context/rate-limit.js"
import { refuseUnstorable } from "../context/refuse-nul.js"
import { type RequestInfo, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints, isUuid } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { Message } from "../entities/message.js"
import { BadUserInput, Conflict, Unauthenticated } from "../errors.js"
import { appendInbound, appendInboundAtOnce } from "../messages/inbound.js"
import { type Connection, connectionOf } from "./connection.js"
import { channelLimits } from "./limits.js"

const upTo = (max: number) =>
  z.string({ error: "must be a string" }).refine((text) => codePoints(text) <= max, `must be at most ${max} characters`)

/** The body of a visitor's message (contract, section 8). */
const widgetMessage = z.object({
  text: upTo(entityLimits.messageText).refine((text) => text.trim() !== "", "must not be empty"),
  name: upTo(entityLimits.chatText).nullish(),
  messageId: upTo(entityLimits.chatText)
    .refine((text) => text !== "", "must not be empty")
    .nullish(),
  visitorToken: z.string({ error: "must be a string" }).nullish(),
})

type WidgetMessage = z.infer<typeof widgetMessage>

/** The client that sent a request, and the headers of its response. */
type Sender = Pick<RequestInfo, "address" | "headers">

/** Where a visitor's message is stored. */
interface Stored {
  chatId: string
  messageId: string
}

/** Stores a visitor's message once per message id, in the visitor's chat or in a new one for a visitor without a token. */
export async function receiveFromWidget(services: Services, connectionId: string, sender: Sender, body: unknown) {
  const message = readMessage(body)
  const known = message instanceof BadUserInput ? null : await storeOfKnownVisitor(services, connectionId, message)
  if (known) return withToken(services, known.companyId, known.stored)
  const connection = await connectionOf(services.database, "widget", connectionId)
  // An unknown connection is reported before a bad body.
  if (message instanceof BadUserInput) throw message
  return withToken(services, connection.companyId, await storeOfVisitor(services, connection, sender, message))
}

/** The message in a body, or the error to answer with. */
function readMessage(body: unknown): WidgetMessage | BadUserInput {
  try {
    refuseUnstorable(body)
  } catch (error) {
    if (error instanceof BadUserInput) return error
    throw error
  }
  const read = widgetMessage.safeParse(body)
  if (read.success) return read.data
  const details = read.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }))
  return new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
}

/** Stores a further message of a visitor by one statement; null, and nothing is stored, when anything about it is not the usual case. */
async function storeOfKnownVisitor(services: Services, connectionId: string, { text, name, messageId, visitorToken }: WidgetMessage) {
  const claims = visitorToken ? verify(visitorToken, services.secrets.jwtSecret, "visitor", clock.now()) : "invalid"
  if (typeof claims === "string" || !isUuid(connectionId)) return null
  const draft = { chatId: claims.sub, type: "Text", text, externalId: messageId ?? null } as const
  const from = { connectionId, name: name?.trim() || null }
  const message = await appendInboundAtOnce(systemContext(services, claims.cid), draft, services.config, from)
  return message && { companyId: claims.cid, stored: { chatId: claims.sub, messageId: message["id"] as string } }
}

function withToken({ secrets }: Pick<Services, "secrets">, companyId: string, stored: Stored) {
  const claims = { typ: "visitor" as const, sub: stored.chatId, cid: companyId }
  return { ...stored, visitorToken: sign(claims, secrets.jwtSecret, channelLimits.visitorTokenSeconds, clock.now()) }
}

async function storeOfVisitor(services: Services, connection: Connection, sender: Sender, body: WidgetMessage): Promise<Stored> {
  const { text, name, messageId, visitorToken } = body
  const visitor = visitorToken ? visitorOf(services, connection, visitorToken) : null
  const context = systemContext(services, connection.companyId)
  // This key lets a repeated first message, whose response was lost, find its chat. It includes the client address and the text: another
  // visitor with the same message id must not get into the chat.
  const key = messageId
    ? createHash("sha256")
        .update(JSON.stringify([messageId, sender.address, text]))
        .digest("hex")
    : v7()
  const store = () =>
    context.transaction(async (tx) => {
      const admit = () => countNewChat(services.limits, connection.id, sender)
      const chat = await chatOf(tx.unit, connection, visitor, `visitor:${key}`, name?.trim() || null, admit)
      const repeated = messageId ? await tx.unit.em.findOne(Message, { chatId: chat.id, externalId: messageId }) : null
      if (repeated) return { chatId: chat.id, messageId: repeated.id }
      const message = await appendInbound(tx.unit, chat, { type: "Text", text, externalId: messageId ?? null }, services.config)
      return { chatId: chat.id, messageId: message["id"] as string }
    })
  // The unique index refused the second of two concurrent first messages: its chat exists now.
  return store().catch((error) => {
    if (error instanceof Conflict) return store()
    throw error
  })
}

/** The chat that a visitor's token names; 401 for a token of another company's widget. */
function visitorOf(services: Pick<Services, "secrets">, connection: Connection, token: string): string {
  const claims = verify(token, services.secrets.jwtSecret, "visitor", clock.now())
  if (claims === "expired") throw new Unauthenticated("The visitor's token has expired: write without it")
  if (claims === "invalid" || claims.cid !== connection.companyId) throw new Unauthenticated("The visitor's token is not valid here")
  return claims.sub
}

/** The visitor's chat, locked; a new one for a visitor without a chat at this connection. Throws 401 when the chat was deleted. */
async function chatOf(
  unit: UnitOfWork,
  connection: Connection,
  chatId: string | null,
  key: string,
  name: string | null,
  admit: () => Promise<void>,
): Promise<Chat> {
  const { companyId, externalId: fromId, assistantId } = connection
  const ours = { companyId, messenger: "widget" as const, fromId }
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const
  const own = chatId && (await unit.em.findOne(Chat, { id: chatId, ...ours }, locked))
  if (chatId && !own && (await unit.em.count(Chat, { id: chatId, companyId })) === 0)
    throw new Unauthenticated("The visitor's chat was deleted: write without the token")
  const known = own || (await unit.em.findOne(Chat, { externalId: key, ...ours }, locked))
  if (known) return Object.assign(known, name && !known.name ? { name } : {})
  await admit()
  const chat = Object.assign(new Chat(), { ...ours, externalId: key, name })
  const kept = { lockMode: LockMode.PESSIMISTIC_READ } as const
  const assistant = assistantId ? await unit.em.findOne(Assistant, { id: assistantId }, kept) : null
  if (assistant?.isAssignable) chat.beginWith(assistant)
  unit.em.persist(chat.opened())
  return chat
}
