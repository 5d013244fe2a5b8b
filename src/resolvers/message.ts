import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { append, appendMessage, appendValues, type MessageDraft, receive } from "../database/append-message.js"
import type { PlainRow, Query as Sql } from "../database/source.js"
import type { Unit } from "../database/unit.js"
import { outboundReplies } from "../entities/channel.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { UUID } from "../entities/kit/scalars.js"
import { Message } from "../entities/message.js"
import { BadUserInput, Forbidden, NotFound } from "../errors.js"
import { limits } from "../limits.js"
import { chatSource } from "../schema/chat.js"
import { Access } from "../schema/kit/access.js"
import { completed, idempotent } from "../schema/kit/idempotent.js"
import { connection, pageOffset, pageSize } from "../schema/kit/page.js"
import { nodesOf, selectionOf } from "../schema/kit/selection.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { CreateMessageInput, forVisitor, MessageConnection, messageSource } from "../schema/message.js"

const notYours = () => new Forbidden("This chat is not yours")
const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

function readDraft(viewer: Viewer, input: CreateMessageInput) {
  const role = input.role ?? "User"
  const type = input.type ?? "Text"
  if (role === "Assistant") throw bad("role", "must not be Assistant: only an assistant speaks as one")
  if (type === "FunctionCall" || type === "FunctionCallOutput")
    throw bad("type", "must not be a function frame: only an assistant makes them")
  if (!input.text?.trim()) throw bad("text", "must not be empty without media")
  if (type !== "Text") throw bad("type", "must be Text without media")
  return { role, type, text: input.text, authorId: role === "Customer" ? null : viewer.userId } as const
}

/** The quoted message, if this chat's channel can quote it. */
async function quoted(viewer: Viewer, chat: Chat, id: string): Promise<PlainRow> {
  if (!outboundReplies[chat.messenger]) throw bad("replyToMessageId", `is not supported on ${chat.messenger}`)
  const all = Object.fromEntries(
    viewer.em
      .getMetadata()
      .get(Message)
      .props.map((prop) => [prop.name, {}]),
  )
  const [message] = await viewer.reader.list(messageSource, { ...all, messageMedia: {} }, (query) =>
    query.where("t.id", "=", id).where("t.chat_id", "=", chat.id),
  )
  if (!message) throw bad("replyToMessageId", "names no message of this chat")
  return message
}

@Resolver()
export class MessageResolver {
  @Access("visitor")
  @Query(() => MessageConnection, { description: "Messages of a chat, newest first; by cursor, or by offset the legacy way." })
  async messages(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("chatId", () => UUID, { description: "The chat." }) chatId: string,
    @Arg("first", () => Int, { nullable: true, description: "How many, 1 to 100; 30 when absent." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the place to continue after." }) after?: string,
    @Arg("skip", () => Int, { nullable: true, description: "How many to pass over, the legacy way; not with after." }) skip?: number,
  ) {
    if (after && skip != null) throw bad("cursor", "must not come together with skip")
    const { identity } = viewer
    if (identity.kind === "visitor" && identity.chatId !== chatId) throw notYours()
    if (!(await viewer.reader.byId(chatSource, chatId, {}))) throw notYours()
    const walk = {
      list: `messages ${chatId}`,
      keys: [{ property: "sequence", column: "sequence", type: "integer" as const }],
      descending: true,
      size: pageSize(first, limits.messagePageDefault),
      after,
      skip: skip == null ? null : pageOffset(skip),
    }
    if (identity.kind !== "visitor") {
      return connection(viewer.reader, messageSource, selectionOf(info), walk, (query) => query.where("t.chat_id", "=", chatId))
    }
    const shown = (query: Sql) =>
      query
        .where("t.chat_id", "=", chatId)
        .where("t.role", "in", ["Customer", "User", "Assistant"])
        .where("t.type", "not in", ["FunctionCall", "FunctionCallOutput"])
    const { chat: _hidden, ...asked } = nodesOf(selectionOf(info))
    const page = await connection(viewer.reader, messageSource, { ...selectionOf(info), nodes: asked, edges: {} }, walk, shown)
    return {
      ...page,
      nodes: page.nodes.map(forVisitor),
      edges: page.edges?.map(({ cursor, node }) => ({ cursor, node: forVisitor(node) })),
    }
  }

  @Access("company")
  @Query(() => Message, { nullable: true, description: "One message." })
  message(@Ctx() viewer: Viewer, @Info() info: GraphQLResolveInfo, @Arg("id", () => UUID) id: string) {
    return viewer.one(messageSource, id, info)
  }

  @Access("company", { steps: true })
  @Mutation(() => Message, { description: "Stores a message and queues it for delivery; a customer's message is an inbound one." })
  async createMessage(
    @Ctx() viewer: Viewer,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateMessageInput) input: CreateMessageInput,
  ) {
    const draft = readDraft(viewer, input)
    if (input.companyId) viewer.reach(input.companyId)
    const row = await this.store(viewer, draft, input)
    return completed(viewer, "Message", row, selectionOf(info))
  }

  private async store(viewer: Viewer, draft: Omit<MessageDraft, "chatId">, input: CreateMessageInput): Promise<PlainRow> {
    const { chatId, replyToMessageId, idempotencyKey } = input
    if (!chatId && replyToMessageId) throw bad("replyToMessageId", "needs a chatId")
    // The ordinary case is one statement, which is its own transaction.
    if (chatId && draft.role !== "Customer" && !replyToMessageId && !idempotencyKey) {
      const values = appendValues({ ...draft, chatId }, viewer.companyIds, clock.now())
      const [row] = await viewer.statement(appendMessage(viewer.services.database.orm), values)
      if (!row) throw notYours()
      return row["message"]
    }
    return viewer.change((within, unit) =>
      idempotent(within, unit, "Message", input, () =>
        chatId ? place(within, unit, draft, chatId, replyToMessageId) : keep(within, draft, input),
      ),
    )
  }
}

/** Puts a message in its chat; a customer's is received. */
async function place(viewer: Viewer, unit: Unit, draft: Omit<MessageDraft, "chatId">, chatId: string, replyToMessageId?: string | null) {
  const chat = await viewer.find(Chat, chatId).catch((error) => {
    throw error instanceof NotFound ? notYours() : error
  })
  const replyTo = replyToMessageId ? ((await quoted(viewer, chat, replyToMessageId)) as { id: string }) : null
  if (draft.role !== "Customer") return append(unit, { ...draft, chatId, replyTo })
  return receive(unit, chat, { ...draft, replyTo }, viewer.services.config)
}

/** A message without a chat: kept for the company, delivered to nobody, told to nobody. */
async function keep(viewer: Viewer, draft: Omit<MessageDraft, "chatId">, input: CreateMessageInput): Promise<PlainRow> {
  const { role, type, text, authorId } = draft
  const message = Object.assign(new Message(), { role, type, text, authorId, companyId: viewer.company(input.companyId), status: "stored" })
  viewer.em.persist(message)
  return { ...message }
}
