import { LockMode } from "@mikro-orm/postgresql"
import { idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import type { PlainRow } from "../database/read-model.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Media } from "../entities/media.js"
import { Message, messageTypeOf } from "../entities/message.js"
import { MessageMedia } from "../entities/message-media.js"
import { BadUserInput, Forbidden, NotFound } from "../errors/errors.js"
import { type CreateMessageInput, type MessageTemplateInput, messageReadModel } from "../schema/message.js"
import { append, appendStatement, appendValues, type MessageDraft } from "./append.js"
import { appendInbound, appendInboundAtOnce } from "./inbound.js"
import { messageLimits } from "./limits.js"

type Draft = Omit<MessageDraft, "chatId">

/** Stores a message, in a chat or for the company alone; returns its row as the event shows it. */
export async function createMessage(context: RequestContext, input: CreateMessageInput): Promise<PlainRow> {
  const draft = readDraft(context, input)
  if (input.companyId) context.reach(input.companyId)
  const { chatId, replyToMessageId, idempotencyKey, template } = input
  if (template && !chatId) throw bad("template", "needs a chatId")
  if (!chatId && replyToMessageId) throw bad("replyToMessageId", "needs a chatId")
  if (chatId && !draft.mediaIds?.length && !replyToMessageId && !idempotencyKey && !template) {
    if (draft.role !== "Customer") return appendInOneStatement(context, { ...draft, chatId })
    const message = await appendInboundAtOnce(context, { ...draft, chatId }, context.services.config)
    if (message) return message
  }
  return context.transaction((tx) =>
    idempotent(tx, tx.unit, "Message", input, () => (chatId ? appendToChat(tx, draft, chatId, input) : storeAlone(tx, draft, input))),
  )
}

function readDraft(context: RequestContext, input: CreateMessageInput) {
  const role = input.role ?? "User"
  const type = input.type ?? "Text"
  if (role === "Assistant") throw bad("role", "must not be Assistant: only assistants create such messages")
  if (type === "FunctionCall" || type === "FunctionCallOutput")
    throw bad("type", "must not be FunctionCall or FunctionCallOutput: only assistants create such messages")
  const mediaIds = [...new Set(input.mediaIds ?? [])]
  if (mediaIds.length > messageLimits.attachments) throw bad("mediaIds", `must be at most ${messageLimits.attachments} files`)
  const { template } = input
  if (template && (role !== "User" || mediaIds.length > 0 || input.replyToMessageId))
    throw bad("template", "is sent by the company, alone: without files and without a quoted message")
  const text = input.text?.trim() ? input.text : template ? `[template: ${template.name}]` : null
  if (mediaIds.length === 0 && !text) throw bad("text", "must not be empty without media")
  if (mediaIds.length === 0 && type !== "Text") throw bad("type", "must be Text without media")
  return { role, type, text, mediaIds, authorId: role === "Customer" ? null : context.userId } as const
}

/** The common case, a text from the company's side: one statement, which is its own transaction. */
async function appendInOneStatement(context: RequestContext, draft: MessageDraft): Promise<PlainRow> {
  const values = appendValues(draft, context.companyIds, clock.now())
  const [row] = await context.statement(appendStatement(context.services.database.orm), values)
  if (!row) throw noAccess()
  return row.message
}

/** Appends a message to its chat, and schedules a reply to a customer message. */
async function appendToChat(context: RequestContext, draft: Draft, chatId: string, input: CreateMessageInput): Promise<PlainRow> {
  const { replyToMessageId, template } = input
  const { unit, services } = context
  const chat = await context.find(Chat, chatId).catch((error) => {
    throw error instanceof NotFound ? noAccess() : error
  })
  if (template && !services.channels.capabilities(chat.messenger).templates) throw bad("template", `is not supported on ${chat.messenger}`)
  const files = await withFiles(context, draft, chat.companyId)
  const hasMedia = Boolean(files.mediaIds?.length)
  const replyTo = replyToMessageId ? ((await quoted(context, chat, replyToMessageId, hasMedia)) as { id: string }) : null
  // Flushed before the statement, which reads the files as they are now.
  if (hasMedia) await unit.flush()
  if (template) return appendTemplate(context, chat, files, template)
  if (draft.role !== "Customer") return append(unit, { ...files, chatId, replyTo })
  return appendInbound(unit, chat, { ...files, replyTo }, services.config)
}

/** Appends a message that its channel sends as a template. */
async function appendTemplate({ unit, em }: RequestContext, chat: Chat, draft: Draft, template: MessageTemplateInput): Promise<PlainRow> {
  const message = await append(unit, { ...draft, chatId: chat.id })
  const { name, language, components } = template
  const key = { id: message.id, companyId: chat.companyId, chatId: chat.id }
  em.persist(ChannelMessage.of(key, { template: { name, language, components: components ?? null } }))
  return message
}

/** Stores a message of the company without a chat: it is not delivered, and there is no event. */
async function storeAlone(context: RequestContext, draft: Draft, input: CreateMessageInput): Promise<PlainRow> {
  const companyId = context.company(input.companyId)
  const { role, type, text, authorId, mediaIds = [] } = await withFiles(context, draft, companyId)
  const message = Object.assign(new Message(), { role, type, text, authorId, companyId, status: "stored" })
  const links = mediaIds.map((mediaId, index) =>
    Object.assign(new MessageMedia(), { companyId, messageId: message.id, mediaId, position: index + 1 }),
  )
  context.em.persist([message, ...links])
  return { ...message }
}

/** Locks and attaches the files of a draft; the first file decides its type when the sender gave none. */
async function withFiles<D extends Draft>(context: RequestContext, draft: D, companyId: string): Promise<D> {
  const ids = draft.mediaIds ?? []
  if (ids.length === 0) return draft
  // Locked in the order of their IDs, so that two messages with the same files cannot deadlock.
  const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const
  const found = new Map((await context.em.find(Media, { id: { $in: ids }, companyId }, options)).map((media) => [media.id, media]))
  const unknown = ids.filter((id) => !found.has(id))
  if (unknown.length > 0)
    throw new BadUserInput(`Unknown mediaIds: ${unknown.join(", ")}`, [{ path: "mediaIds", message: "names no file of this company" }])
  if ([...found.values()].some(({ status }) => status !== "ready")) throw bad("mediaIds", "names a file whose content is not there")
  for (const media of found.values()) media.attach()
  return { ...draft, type: draft.type === "Text" ? messageTypeOf(found.get(ids[0]!)!.mimeType) : draft.type }
}

/** Reads the quoted message; throws when the channel of the chat cannot quote it. */
async function quoted(context: RequestContext, chat: Chat, id: string, hasMedia: boolean): Promise<PlainRow> {
  const { replies } = context.services.channels.capabilities(chat.messenger)
  if (replies === "none") throw bad("replyToMessageId", `is not supported on ${chat.messenger}`)
  if (replies === "text" && hasMedia) throw bad("mediaIds", `cannot be sent with a reply on ${chat.messenger}, where replies are text only`)
  const [message] = await context.reader.list(messageReadModel, context.services.snapshotOf("Message")["replyTo"]!, (query) =>
    query.where("t.id", "=", id).where("t.chat_id", "=", chat.id),
  )
  if (!message) throw bad("replyToMessageId", "names no message of this chat")
  return message
}

const noAccess = () => new Forbidden("You have no access to this chat")
const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])
