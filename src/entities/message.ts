import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, Int, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { type DeliveryErrorCode, DeliveryErrorCodeEnum } from "./kit/delivery-error.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { FunctionCall, FunctionCallOutput } from "./kit/tool-frames.js"
import { words } from "./kit/words.js"
import { MessageMedia } from "./message-media.js"
import { User } from "./user.js"

/** Author of a message. */
export const MessageRoleEnum = words("MessageRole", "Author of a message.", {
  User: "The side of the company: a person or an integration.",
  Assistant: "The assistant of the chat.",
  Customer: "The customer.",
  System: "A system message; it is not sent to the customer.",
})
export type MessageRole = (typeof MessageRoleEnum)[string]

/** Type of a message; the last two are the tool frames of the assistant. */
export const MessageTypeEnum = words("MessageType", "Type of a message.", {
  Text: "Text.",
  Photo: "Photo, with an optional caption.",
  Video: "Video, with an optional caption.",
  Audio: "Audio, with an optional caption.",
  Document: "File of any other type, with an optional caption.",
  FunctionCall: "Tool call by the assistant; not sent to the customer.",
  FunctionCallOutput: "Output of a tool call; not sent to the customer.",
})
export type MessageType = (typeof MessageTypeEnum)[string]

/** The default type of a message: that of its first file. */
export function messageTypeOf(mimeType: string): MessageType {
  const byKind: Record<string, MessageType> = { image: "Photo", video: "Video", audio: "Audio" }
  return byKind[mimeType.split("/")[0]!] ?? "Document"
}

/** Delivery status of a message. */
export const MessageStatusEnum = words("MessageStatus", "Delivery status of a message.", {
  stored: "Stored; not to be delivered, for example a message of the customer.",
  queued: "Waiting for delivery.",
  sent: "Accepted by the channel.",
  delivered: "Delivered to the customer.",
  read: "Read by the customer.",
  failed: "Delivery failed; see deliveryError.",
  cancelled: "Not sent, because AI was turned off before the delivery.",
})
export type MessageStatus = (typeof MessageStatusEnum)[string]

@ObjectType({ description: "A source that an answer of the assistant is based on." })
export class MessageSource {
  @Field(() => UUID, { description: "ID of the knowledge item." })
  knowledgeId!: string

  @Field(() => String, { description: "Name of the knowledge item." })
  knowledgeName!: string

  @Field(() => UUID, { nullable: true, description: "ID of the chunk; null when the item was given to the text model as a whole." })
  chunkId!: string | null
}

@ObjectType({ description: "The member of a group who wrote a message." })
export class MessageSender {
  @Field(() => String, { description: "ID of the member on the channel." })
  externalId!: string

  @Field(() => String, { nullable: true, description: "Name of the member." })
  name!: string | null
}

@ObjectType({ description: "A message of a chat." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Unique({ properties: ["chatId", "sequence"] })
@Unique({ properties: ["chatId", "externalId"] })
@Index({
  name: "message_author",
  expression: "create index message_author on message (author_id) where author_id is not null",
})
@Index({
  name: "message_on_channel",
  expression: "create index message_on_channel on message (company_id, external_id) where external_id is not null",
})
@Index({
  name: "message_queued",
  expression: "create index message_queued on message (company_id, chat_id, sequence) where status = 'queued'",
})
export class Message extends CompanyOwned {
  // Its GraphQL field `chat` is declared in chat.ts.

  @Field(() => UUID, { nullable: true, description: "ID of the chat; null for a message that is only stored." })
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Field(() => Int, { nullable: true, description: "Position in the chat (1, 2, 3 …), in the order in which messages were stored." })
  @Property({ type: "integer", nullable: true })
  sequence: number | null = null

  @Field(() => MessageRoleEnum, { description: "Author of the message." })
  @Property({ type: "text" })
  role!: MessageRole

  @Field(() => MessageTypeEnum, { description: "Type of the message." })
  @Property({ type: "text" })
  type!: MessageType

  @Field(() => String, { nullable: true, description: "Text of the message; the caption when files are attached." })
  @Property({ type: "text", nullable: true })
  text: string | null = null

  @Field(() => String, { description: "Always PLATFORM." })
  @Property({ type: "text", default: "PLATFORM" })
  source: string = "PLATFORM"

  @Field(() => String, {
    nullable: true,
    description: "ID of the sender on the channel: the connected account (fromId of the chat) or the customer.",
  })
  @Property({ type: "text", nullable: true })
  fromId: string | null = null

  @Field(() => MessageStatusEnum, { description: "Delivery status." })
  @Property({ type: "text" })
  status!: MessageStatus

  @Field(() => DateTime, { nullable: true, description: "Time when the channel accepted the message." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  sentAt: Date | null = null

  @Field(() => DateTime, { nullable: true, description: "Time when the channel reported the delivery." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  deliveredAt: Date | null = null

  @Field(() => String, {
    nullable: true,
    description: "Why the delivery failed, in the words of the channel; for a sent message, that it may have been delivered twice.",
  })
  @Property({ type: "text", nullable: true })
  deliveryError: string | null = null

  @Field(() => DeliveryErrorCodeEnum, { nullable: true, description: "Why the delivery failed, as a code." })
  @Property({ type: "text", nullable: true })
  deliveryErrorCode: DeliveryErrorCode | null = null

  @Field(() => String, { nullable: true, description: "ID of the message on the channel." })
  @Property({ type: "text", nullable: true })
  externalId: string | null = null

  @Field(() => MessageSender, { nullable: true, description: "The member who wrote the message, in a group." })
  @Property({ type: "json", nullable: true })
  sender: MessageSender | null = null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the user who wrote the message; null for an integration, the assistant and the customer.",
  })
  @Property({ type: "uuid", nullable: true })
  authorId: string | null = null

  @Field(() => User, { nullable: true, description: "The user who wrote the message." })
  author?: User | null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the context archive that holds the message; null while the message is in the context of the assistant.",
  })
  @Property({ type: "uuid", nullable: true })
  contextId: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the quoted message, an earlier message of the same chat." })
  @Property({ type: "uuid", nullable: true })
  replyToMessageId: string | null = null

  @Field(() => Message, { nullable: true, description: "The quoted message." })
  replyTo?: Message | null

  @Field(() => [UUID], { description: "IDs of the attached files, in their order." })
  mediaIds?: string[]

  @Field(() => [MessageMedia], { description: "Attached files, in their order." })
  messageMedia?: MessageMedia[]

  @Field(() => [MessageSource], { description: "Knowledge items on which the answer of the assistant is based." })
  @Property({ type: "json", default: "[]" })
  sources: MessageSource[] = []

  @Field(() => FunctionCall, { nullable: true, description: "The tool call, in a message of type FUNCTION_CALL." })
  @Property({ type: "json", nullable: true })
  functionCall: FunctionCall | null = null

  @Field(() => FunctionCallOutput, {
    nullable: true,
    description: "The output of the tool call, in a message of type FUNCTION_CALL_OUTPUT.",
  })
  @Property({ type: "json", nullable: true })
  functionCallOutput: FunctionCallOutput | null = null

  /** Emits the event MESSAGE_UPDATED. */
  private changed() {
    this.emit({ type: "MESSAGE_UPDATED", companyId: this.companyId, chatId: this.chatId, payload: { row: "Message", id: this.id } })
    return this
  }

  /** The channel accepted the message; `doubt` says that it may have arrived twice. */
  sent(externalId: string | null, doubt: string | null) {
    // A receipt may have come before the channel's response.
    if (rank(this.status) < rank("sent")) this.status = "sent"
    this.externalId ??= externalId
    this.sentAt ??= clock.now()
    this.deliveryError = doubt
    this.deliveryErrorCode = null
    return this.changed()
  }

  /** The delivery failed for good. */
  fail(code: DeliveryErrorCode, reason: string) {
    this.status = "failed"
    this.deliveryError = reason
    this.deliveryErrorCode = code
    return this.changed()
  }

  /** The message is not sent: AI was turned off. */
  cancel() {
    this.status = "cancelled"
    return this.changed()
  }

  /** Queues a failed message again. */
  retry() {
    this.status = "queued"
    this.deliveryError = this.deliveryErrorCode = null
    // An ID that the channel gave to what has failed there.
    if (this.sentAt) this.externalId = this.sentAt = null
    return this.changed()
  }

  /** What the channel reported of a sent message; it never goes back (contract, section 3). */
  report(status: "sent" | "delivered" | "read" | "failed", failure: { code: DeliveryErrorCode; reason: string } | null) {
    if (status === "failed") return this.status === "sent" ? this.fail(failure!.code, failure!.reason) : this
    if (rank(status) <= rank(this.status)) return this
    this.status = status
    const now = clock.now()
    this.sentAt ??= now
    if (status !== "sent") this.deliveredAt ??= now
    return this.changed()
  }

  /** The customer changed the text. */
  edit(text: string) {
    this.text = text
    return this.changed()
  }

  /** The customer deleted the message; its files go with it. */
  deleteByCustomer() {
    Object.assign(this, { type: "Text", text: "[deleted by the customer]" })
    return this.changed()
  }
}

/** Order of the delivery statuses; the others are before all of them. */
const rank = (status: MessageStatus) => ["sent", "delivered", "read"].indexOf(status)

/** Moves messages up to a time to a new context archive, which the assistant does not read; returns its ID, null when none were moved. */
export async function archiveMessages(em: EntityManager, chatId: string, until: Date): Promise<string | null> {
  const contextId = v7()
  const moved = await em.nativeUpdate(Message, { chatId, contextId: null, createdAt: { $lte: until } }, { contextId })
  return moved > 0 ? contextId : null
}
