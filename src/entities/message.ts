import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import type { EntityManager, Rel } from "@mikro-orm/postgresql"
import { Field, Int, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { Chat } from "./chat.js"
import type { DomainEvent } from "./kit/row.js"
import { CompanyOwned } from "./kit/row.js"
import { JSONValue, Timestamp, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { MessageMedia } from "./media.js"

/** Who speaks: `User` is the connected account's side (a person or an integration), `Customer` the other one. */
export const messageRoles = ["User", "Assistant", "Customer", "System"] as const
export type MessageRole = (typeof messageRoles)[number]
export const MessageRoleEnum = words(
  "MessageRole",
  "Who speaks: USER is the connected account's side, CUSTOMER the other one.",
  messageRoles,
)

/** What a message is; the last two are tool frames of the assistant. */
export const messageTypes = ["Text", "Photo", "Video", "Audio", "Document", "FunctionCall", "FunctionCallOutput"] as const
export type MessageType = (typeof messageTypes)[number]
export const MessageTypeEnum = words("MessageType", "What a message is; the last two are tool frames of the assistant.", messageTypes)

/** The type of a message by its first file, when its sender does not say. */
export function messageTypeOf(mimeType: string): MessageType {
  const byKind: Record<string, MessageType> = { image: "Photo", video: "Video", audio: "Audio" }
  return byKind[mimeType.split("/")[0]!] ?? "Document"
}

/** How far a message has come on its way to the customer. */
export const messageStatuses = ["stored", "queued", "sent", "delivered", "read", "failed", "cancelled"] as const
export type MessageStatus = (typeof messageStatuses)[number]
export const MessageStatusEnum = words("MessageStatus", "How far a message has come on its way to the customer.", messageStatuses)

@ObjectType({ description: "That the assistant called a tool." })
export class FunctionCall {
  @Field(() => UUID, { description: "Id of the call, the same in its output." })
  callId!: string

  @Field(() => String, { description: "Name of the tool." })
  name!: string

  @Field(() => JSONValue, { nullable: true, description: "The arguments it was called with." })
  arguments!: unknown
}

@ObjectType({ description: "What came of a tool call." })
export class FunctionCallOutput {
  @Field(() => UUID, { description: "Id of the call." })
  callId!: string

  @Field(() => JSONValue, { nullable: true, description: "What the tool answered." })
  output!: unknown

  @Field(() => String, { description: "success, error or cancelled." })
  status!: "success" | "error" | "cancelled"
}

/** The second frame of a tool call, about to get its place in the chat. */
export interface OutputFrame {
  chatId: string
  role: "Assistant"
  type: "FunctionCallOutput"
  functionCallOutput: FunctionCallOutput
}

/** Makes the second frame of a tool call. */
export const outputFrame = (chatId: string, callId: string, status: FunctionCallOutput["status"], output: unknown): OutputFrame => ({
  chatId,
  role: "Assistant",
  type: "FunctionCallOutput",
  functionCallOutput: { callId, output, status },
})

@ObjectType({ description: "A piece of knowledge that an answer was made from." })
export class MessageSource {
  @Field(() => UUID, { description: "The knowledge item." })
  knowledgeId!: string

  @Field(() => String, { description: "Its name." })
  knowledgeName!: string

  @Field(() => UUID, { nullable: true, description: "The chunk; null for an item given to the model as it is." })
  chunkId!: string | null
}

@ObjectType({ description: "One message of a chat." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["chatId", "sequence"] })
@Unique({ properties: ["chatId", "externalId"] })
export class Message extends CompanyOwned {
  @Field(() => UUID, { nullable: true, description: "The chat; null for a message that is only stored." })
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Field(() => Int, { nullable: true, description: "Its place in its chat: 1, 2, 3 … in the order of commit." })
  @Property({ type: "integer", nullable: true })
  sequence: number | null = null

  @Field(() => MessageRoleEnum, { description: "Who speaks." })
  @Property({ type: "text" })
  role!: MessageRole

  @Field(() => MessageTypeEnum, { description: "What it is." })
  @Property({ type: "text" })
  type!: MessageType

  @Field(() => String, { nullable: true, description: "Its text; the caption when media is attached." })
  @Property({ type: "text", nullable: true })
  text: string | null = null

  @Field(() => String, { description: "Always PLATFORM." })
  @Property({ type: "text", default: "PLATFORM" })
  source: string = "PLATFORM"

  @Field(() => String, {
    nullable: true,
    description: "Who sent it on the channel: the chat's fromId for our side, the customer's id for theirs.",
  })
  @Property({ type: "text", nullable: true })
  fromId: string | null = null

  @Field(() => MessageStatusEnum, { description: "How far it has come on its way to the customer." })
  @Property({ type: "text" })
  status!: MessageStatus

  @Field(() => Timestamp, { nullable: true, description: "When the channel accepted it." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  sentAt: Date | null = null

  @Field(() => Timestamp, { nullable: true, description: "When the channel said it arrived." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  deliveredAt: Date | null = null

  @Field(() => String, { nullable: true, description: "Why it could not be delivered." })
  @Property({ type: "text", nullable: true })
  deliveryError: string | null = null

  @Field(() => String, { nullable: true, description: "Its id on the channel." })
  @Property({ type: "text", nullable: true })
  externalId: string | null = null

  @Field(() => UUID, { nullable: true, description: "The user who wrote it; null for an integration, the assistant and the customer." })
  @Property({ type: "uuid", nullable: true })
  authorId: string | null = null

  @Field(() => UUID, { nullable: true, description: "The context archive it was moved to; null while the assistant still reads it." })
  @Property({ type: "uuid", nullable: true })
  contextId: string | null = null

  @Field(() => Chat, { nullable: true, description: "Its chat." })
  chat?: Rel<Chat> | null

  @Field(() => UUID, { nullable: true, description: "The earlier message of the chat that it quotes." })
  @Property({ type: "uuid", nullable: true })
  replyToMessageId: string | null = null

  @Field(() => Message, { nullable: true, description: "The quoted message, one level." })
  replyTo?: Message | null

  @Field(() => [UUID], { description: "Its uploaded files, in their order." })
  mediaIds?: string[]

  @Field(() => [MessageMedia], { description: "Its attachments." })
  messageMedia?: MessageMedia[]

  @Field(() => [MessageSource], { description: "The knowledge that an answer was made from." })
  @Property({ type: "json", default: "[]" })
  sources: MessageSource[] = []

  @Field(() => FunctionCall, { nullable: true, description: "The tool call, on a frame of type FunctionCall." })
  @Property({ type: "json", nullable: true })
  functionCall: FunctionCall | null = null

  @Field(() => FunctionCallOutput, { nullable: true, description: "What came of it, on a frame of type FunctionCallOutput." })
  @Property({ type: "json", nullable: true })
  functionCallOutput: FunctionCallOutput | null = null
}

/** Cancels the assistant's messages of a chat that have not left yet: the other half of a take-over. */
export async function withdrawQueuedAnswers(em: EntityManager, chatId: string): Promise<DomainEvent[]> {
  const queued = await em.find(Message, { chatId, role: "Assistant", status: "queued" })
  for (const message of queued) message.status = "cancelled"
  return queued.map((message) => ({
    type: "MESSAGE_UPDATED",
    companyId: message.companyId,
    chatId,
    payload: { row: "Message", id: message.id },
  }))
}

/** Moves a chat's messages up to a time to a new archive, which the assistant does not read; answers its id, null when there were none. */
export async function archiveMessages(em: EntityManager, chatId: string, until: Date): Promise<string | null> {
  const contextId = v7()
  const moved = await em.nativeUpdate(Message, { chatId, contextId: null, createdAt: { $lte: until } }, { contextId })
  return moved > 0 ? contextId : null
}
