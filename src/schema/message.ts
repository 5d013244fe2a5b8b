import { Field, InputType } from "type-graphql"
import { belongsTo, type PlainRow, readModel } from "../database/read-model.js"
import { UUID, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { Message, type MessageRole, MessageRoleEnum, type MessageType, MessageTypeEnum } from "../entities/message.js"
import { chatReadModel } from "./chat.js"
import { InCompanyOnce } from "./kit/input.js"
import { connectionOf } from "./kit/page.js"
import { mediaIds, messageMedia } from "./media.js"

export const messageReadModel = readModel("Message", {
  replyTo: belongsTo("replyTo", () => messageReadModel, "replyToMessageId"),
  chat: belongsTo("chat", () => chatReadModel, "chatId"),
  messageMedia,
  mediaIds,
})

export const MessageConnection = connectionOf(Message)

@InputType({ description: "The message to create." })
export class CreateMessageInput extends InCompanyOnce {
  @Field(() => UUID, { nullable: true, description: "ID of the chat; without it the message is only stored." })
  chatId?: string | null

  @Field(() => Verbatim(entityLimits.messageText), {
    nullable: true,
    description: "Text of the message; the caption when files are attached. Required without files.",
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
}

const visibleToVisitors = ["Customer", "User", "Assistant"]

/** Whether a widget's visitor sees a message at all: no system messages and no function frames. */
export const isForVisitors = (row: PlainRow) =>
  visibleToVisitors.includes(row["role"]) && row["functionCall"] == null && row["functionCallOutput"] == null

/** A message as a widget's visitor sees it: without author, sources and the chat behind it. */
export function forVisitor(row: PlainRow): PlainRow {
  const replyTo = row["replyTo"] && isForVisitors(row["replyTo"]) ? forVisitor(row["replyTo"]) : null
  return { ...row, authorId: null, sources: [], chat: null, replyTo }
}
