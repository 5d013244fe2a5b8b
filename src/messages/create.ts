import { LockMode } from "@mikro-orm/postgresql"
import { idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import type { PlainRow } from "../database/read-model.js"
import { outboundReplies } from "../entities/channel.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Media, MessageMedia } from "../entities/media.js"
import { Message, messageTypeOf } from "../entities/message.js"
import { BadUserInput, Forbidden, NotFound } from "../errors.js"
import { type CreateMessageInput, messageReadModel } from "../schema/message.js"
import { append, appendMessage, appendValues, type MessageDraft } from "./append.js"
import { appendInbound } from "./inbound.js"
import { messageLimits } from "./limits.js"

type Draft = Omit<MessageDraft, "chatId">

/** Stores a message, in its chat or for the company alone; returns its row, as the event shows it where there is one. */
export async function createMessage(context: RequestContext, input: CreateMessageInput): Promise<PlainRow> {
  const draft = readDraft(context, input)
  if (input.companyId) context.reach(input.companyId)
  const { chatId, replyToMessageId, idempotencyKey } = input
  if (!chatId && replyToMessageId) throw bad("replyToMessageId", "needs a chatId")
  if (chatId && draft.role !== "Customer" && !draft.mediaIds?.length && !replyToMessageId && !idempotencyKey)
    return appendAlone(context, { ...draft, chatId })
  return context.transaction((tx) =>
    idempotent(tx, tx.unit, "Message", input, () => (chatId ? place(tx, draft, chatId, replyToMessageId) : keep(tx, draft, input))),
  )
}

function readDraft(context: RequestContext, input: CreateMessageInput) {
  const role = input.role ?? "User"
  const type = input.type ?? "Text"
  if (role === "Assistant") throw bad("role", "must not be Assistant: only an assistant speaks as one")
  if (type === "FunctionCall" || type === "FunctionCallOutput")
    throw bad("type", "must not be a function frame: only an assistant makes them")
  const mediaIds = [...new Set(input.mediaIds ?? [])]
  if (mediaIds.length > messageLimits.attachments) throw bad("mediaIds", `must be at most ${messageLimits.attachments} files`)
  const text = input.text?.trim() ? input.text : null
  if (mediaIds.length === 0 && !text) throw bad("text", "must not be empty without media")
  if (mediaIds.length === 0 && type !== "Text") throw bad("type", "must be Text without media")
  if (mediaIds.length > 0 && input.type === "Text") throw bad("type", "must not be Text with media")
  return { role, type, text, mediaIds, authorId: role === "Customer" ? null : context.userId } as const
}

/** The ordinary case, a text of our own side: one statement, which is its own transaction. */
async function appendAlone(context: RequestContext, draft: MessageDraft): Promise<PlainRow> {
  const values = appendValues(draft, context.companyIds, clock.now())
  const [row] = await context.statement(appendMessage(context.services.database.orm), values)
  if (!row) throw notYours()
  return row.message
}

/** Puts a message in its chat; the reply to a customer's is expected. */
async function place(context: RequestContext, draft: Draft, chatId: string, replyToMessageId?: string | null): Promise<PlainRow> {
  const { unit, services } = context
  const chat = await context.find(Chat, chatId).catch((error) => {
    throw error instanceof NotFound ? notYours() : error
  })
  const files = await withFiles(context, draft, chat.companyId)
  const hasMedia = Boolean(files.mediaIds?.length)
  const replyTo = replyToMessageId ? ((await quoted(context, chat, replyToMessageId, hasMedia)) as { id: string }) : null
  // Written before the statement, which shows the files as they are now.
  if (hasMedia) await unit.flush()
  if (draft.role !== "Customer") return append(unit, { ...files, chatId, replyTo })
  return appendInbound(unit, chat, { ...files, replyTo }, services.config)
}

/** Keeps a message without a chat for the company: it is delivered to nobody, and no event tells of it. */
async function keep(context: RequestContext, draft: Draft, input: CreateMessageInput): Promise<PlainRow> {
  const companyId = context.company(input.companyId)
  const { role, type, text, authorId, mediaIds = [] } = await withFiles(context, draft, companyId)
  const message = Object.assign(new Message(), { role, type, text, authorId, companyId, status: "stored" })
  const links = mediaIds.map((mediaId, index) =>
    Object.assign(new MessageMedia(), { companyId, messageId: message.id, mediaId, position: index + 1 }),
  )
  context.em.persist([message, ...links])
  return { ...message }
}

/** The draft with its files locked and attached, and its type by the first of them when its sender does not say. */
async function withFiles<D extends Draft>(context: RequestContext, draft: D, companyId: string): Promise<D> {
  const ids = draft.mediaIds ?? []
  if (ids.length === 0) return draft
  // In the order of their ids, so that two messages with the same files do not wait for each other.
  const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const
  const found = new Map((await context.em.find(Media, { id: { $in: ids }, companyId }, options)).map((media) => [media.id, media]))
  const unknown = ids.filter((id) => !found.has(id))
  if (unknown.length > 0)
    throw new BadUserInput(`Unknown mediaIds: ${unknown.join(", ")}`, [{ path: "mediaIds", message: "names no file of this company" }])
  for (const media of found.values()) media.attach()
  return { ...draft, type: draft.type === "Text" ? messageTypeOf(found.get(ids[0]!)!.mimeType) : draft.type }
}

/** The quoted message, if this chat's channel can quote it. */
async function quoted(context: RequestContext, chat: Chat, id: string, hasMedia: boolean): Promise<PlainRow> {
  const takes = outboundReplies[chat.messenger]
  if (!takes) throw bad("replyToMessageId", `is not supported on ${chat.messenger}`)
  if (takes === "text" && hasMedia) throw bad("mediaIds", `must not come with a reply on ${chat.messenger}: replies are text there`)
  const [message] = await context.reader.list(messageReadModel, context.services.snapshotOf("Message")["replyTo"]!, (query) =>
    query.where("t.id", "=", id).where("t.chat_id", "=", chat.id),
  )
  if (!message) throw bad("replyToMessageId", "names no message of this chat")
  return message
}

const notYours = () => new Forbidden("This chat is not yours")
const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])
