import { Field, InputType } from "type-graphql"
import { belongsTo, type PlannedRow, type ReadModel, readModel, readModelOf } from "../database/read-model.js"
import { JSONValue, Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { Message, type MessageRole, MessageRoleEnum, type MessageType, MessageTypeEnum } from "../entities/message.js"
import { userReadModel } from "./company.js"
import { InCompanyOnce } from "./kit/input.js"
import { connectionOf } from "./kit/page.js"
import { schemaLimits } from "./limits.js"
import { mediaIds, messageMedia } from "./media.js"

export const messageReadModel: ReadModel<"Message"> = readModel("Message", {
  replyTo: belongsTo(() => messageReadModel, "replyToMessageId"),
  // By its name: the read model of chats refers to this one.
  chat: belongsTo(() => readModelOf("Chat")!, "chatId"),
  author: belongsTo(() => userReadModel, "authorId"),
  messageMedia,
  mediaIds,
})

export const MessageConnection = connectionOf(Message)

@InputType({ description: "A message template that WhatsApp has approved, and its values." })
export class MessageTemplateInput {
  @Field(() => Trimmed({ max: schemaLimits.templateName }), { description: "Name of the template." })
  name!: string

  @Field(() => Trimmed({ max: schemaLimits.templateLanguage }), { description: "Code of its language, such as en_US." })
  language!: string

  @Field(() => [JSONValue], { nullable: true, description: "Values of its components, as WhatsApp's API describes them." })
  components?: unknown[] | null
}

@InputType({ description: "The message to create." })
export class CreateMessageInput extends InCompanyOnce {
  @Field(() => UUID, { nullable: true, description: "ID of the chat; without it the message is only stored." })
  chatId?: string | null

  @Field(() => Verbatim(entityLimits.messageText), {
    nullable: true,
    description: "Text of the message; the caption when files are attached. Required without files and template.",
  })
  text?: string | null

  @Field(() => MessageRoleEnum, { nullable: true, description: "Author of the message; ASSISTANT is not allowed. Default: USER." })
  role?: MessageRole | null

  @Field(() => MessageTypeEnum, {
    nullable: true,
    description: "Type of the message. Default: the type of the first file, or TEXT without files.",
  })
  type?: MessageType | null

  @Field(() => [UUID], { nullable: true, description: "IDs of uploaded files to attach in this order, at most 10." })
  mediaIds?: string[] | null

  @Field(() => UUID, { nullable: true, description: "ID of the message to quote, an earlier message of the same chat." })
  replyToMessageId?: string | null

  @Field(() => MessageTemplateInput, {
    nullable: true,
    description:
      "Template to send, on WhatsApp Business alone: what may be sent after the 24 hours that follow the customer's last message.",
  })
  template?: MessageTemplateInput | null
}

type MessageRow = PlannedRow<"Message">
const visibleToVisitors: unknown[] = ["Customer", "User", "Assistant"]

/** Whether the visitor of a widget may see a message: no system messages and no tool calls. */
export const isForVisitors = ({ role, functionCall, functionCallOutput }: MessageRow) =>
  visibleToVisitors.includes(role) && functionCall == null && functionCallOutput == null

/** A message as the visitor of a widget sees it: without author, sources and chat. */
export function forVisitor(row: MessageRow): MessageRow {
  const quoted = row["replyTo"] as MessageRow | null | undefined
  return {
    ...row,
    authorId: null,
    author: null,
    sources: [],
    chat: null,
    replyTo: quoted && isForVisitors(quoted) ? forVisitor(quoted) : null,
  }
}
