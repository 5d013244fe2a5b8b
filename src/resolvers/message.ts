import { LockMode } from "@mikro-orm/postgresql"
import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { receive } from "../channels/receive.js"
import { completed, idempotent } from "../context/idempotency.js"
import type { RequestContext } from "../context/request-context.js"
import { nodesOf, selectionOf } from "../context/selection.js"
import { snapshotSelection } from "../context/snapshot.js"
import type { PlainRow } from "../database/read-model.js"
import type { FilterTemplate } from "../database/reader.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { outboundReplies } from "../entities/channel.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { UUID } from "../entities/kit/scalars.js"
import { Media, MessageMedia } from "../entities/media.js"
import { Message, messageTypeOf } from "../entities/message.js"
import { BadUserInput, Forbidden, NotFound } from "../errors.js"
import { Access } from "../graphql/access.js"
import { append, appendMessage, appendValues, type MessageDraft } from "../messages/append.js"
import { messageLimits } from "../messages/limits.js"
import { chatReadModel } from "../schema/chat.js"
import { connection, pageOffset, pageSize } from "../schema/kit/page.js"
import { placeOf } from "../schema/kit/walk.js"
import { schemaLimits } from "../schema/limits.js"
import { CreateMessageInput, forVisitor, MessageConnection, messageReadModel } from "../schema/message.js"

const notYours = () => new Forbidden("This chat is not yours")
const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

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

/** The draft with its files locked and attached, and its type by the first of them when its sender does not say. */
async function withFiles<D extends Omit<MessageDraft, "chatId">>(context: RequestContext, draft: D, companyId: string): Promise<D> {
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
  const [message] = await context.reader.list(messageReadModel, snapshotSelection("Message")["replyTo"]!, (query) =>
    query.where("t.id", "=", id).where("t.chat_id", "=", chat.id),
  )
  if (!message) throw bad("replyToMessageId", "names no message of this chat")
  return message
}

const ofChat = (chatId: string): FilterTemplate<"Message", [string]> => ({
  key: "of a chat",
  values: [chatId],
  build: (query, [id]) => query.where("t.chat_id", "=", id),
})

const ofChatForVisitors = (chatId: string): FilterTemplate<"Message", [string]> => ({
  key: "of a chat, for visitors",
  values: [chatId],
  build: (query, values) =>
    ofChat(chatId)
      .build(query, values)
      .where("t.role", "in", ["Customer", "User", "Assistant"])
      .where("t.type", "not in", ["FunctionCall", "FunctionCallOutput"]),
})

@Resolver()
export class MessageResolver {
  @Access("visitor")
  @Query(() => MessageConnection, { description: "Messages of a chat, newest first; by cursor, or by offset the legacy way." })
  async messages(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("chatId", () => UUID, { description: "The chat." }) chatId: string,
    @Arg("first", () => Int, { nullable: true, description: "How many, 1 to 100; 30 when absent." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the place to continue after." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over, the legacy way; not with after." }) skip?: number,
  ) {
    if (after && skip != null) throw bad("cursor", "must not come together with skip")
    const walk = {
      list: `messages ${chatId}`,
      keys: [{ property: "sequence", column: "sequence", type: "integer" as const }],
      descending: true,
      size: pageSize(first, schemaLimits.messagePageDefault),
      after,
      skip: skip == null ? null : pageOffset(skip),
    }
    // What is malformed is told before what is out of reach.
    placeOf(walk)
    const { identity } = context
    if (identity.kind === "visitor" && identity.chatId !== chatId) throw notYours()
    const isThere = context.reader.byId(chatReadModel, chatId, {}).then((chat) => {
      if (!chat) throw notYours()
    })
    const selection = selectionOf(info)
    if (identity.kind !== "visitor") {
      const [page] = await Promise.all([connection(context.reader, messageReadModel, selection, walk, ofChat(chatId)), isThere])
      return page
    }
    const { chat: _hidden, ...asked } = nodesOf(selection)
    const open = { ...selection, nodes: asked, edges: {} }
    const [page] = await Promise.all([connection(context.reader, messageReadModel, open, walk, ofChatForVisitors(chatId)), isThere])
    return {
      ...page,
      nodes: page.nodes.map(forVisitor),
      edges: page.edges?.map(({ cursor, node }) => ({ cursor, node: forVisitor(node) })),
    }
  }

  @Access("company")
  @Query(() => Message, { nullable: true, description: "One message." })
  message(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return context.one(messageReadModel, id, info)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => Message, { description: "Stores a message and queues it for delivery; a customer's message is an inbound one." })
  async createMessage(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateMessageInput) input: CreateMessageInput,
  ) {
    const draft = readDraft(context, input)
    if (input.companyId) context.reach(input.companyId)
    const row = await this.store(context, draft, input)
    return completed(context, "Message", row, selectionOf(info))
  }

  private async store(context: RequestContext, draft: Omit<MessageDraft, "chatId">, input: CreateMessageInput): Promise<PlainRow> {
    const { chatId, replyToMessageId, idempotencyKey } = input
    if (!chatId && replyToMessageId) throw bad("replyToMessageId", "needs a chatId")
    // The ordinary case is one statement, which is its own transaction.
    if (chatId && draft.role !== "Customer" && !draft.mediaIds?.length && !replyToMessageId && !idempotencyKey) {
      const values = appendValues({ ...draft, chatId }, context.companyIds, clock.now())
      const [row] = await context.statement(appendMessage(context.services.database.orm), values)
      if (!row) throw notYours()
      return row.message
    }
    return context.transaction((tx) =>
      idempotent(tx, tx.unit, "Message", input, () =>
        chatId ? place(tx, tx.unit, draft, chatId, replyToMessageId) : keep(tx, draft, input),
      ),
    )
  }
}

/** Puts a message in its chat; a customer's is received. */
async function place(
  context: RequestContext,
  unit: UnitOfWork,
  draft: Omit<MessageDraft, "chatId">,
  chatId: string,
  replyToMessageId?: string | null,
) {
  const chat = await context.find(Chat, chatId).catch((error) => {
    throw error instanceof NotFound ? notYours() : error
  })
  const files = await withFiles(context, draft, chat.companyId)
  const hasMedia = Boolean(files.mediaIds?.length)
  const replyTo = replyToMessageId ? ((await quoted(context, chat, replyToMessageId, hasMedia)) as { id: string }) : null
  // Written before the statement, which shows the files as they are now.
  if (hasMedia) await unit.flush()
  if (draft.role !== "Customer") return append(unit, { ...files, chatId, replyTo })
  return receive(unit, chat, { ...files, replyTo }, context.services.config)
}

/** A message without a chat: kept for the company, delivered to nobody, told to nobody. */
async function keep(context: RequestContext, draft: Omit<MessageDraft, "chatId">, input: CreateMessageInput): Promise<PlainRow> {
  const companyId = context.company(input.companyId)
  const { role, type, text, authorId, mediaIds = [] } = await withFiles(context, draft, companyId)
  const message = Object.assign(new Message(), { role, type, text, authorId, companyId, status: "stored" })
  const links = mediaIds.map((mediaId, index) =>
    Object.assign(new MessageMedia(), { companyId, messageId: message.id, mediaId, position: index + 1 }),
  )
  context.em.persist([message, ...links])
  return { ...message }
}
