import { Field, InputType } from "type-graphql"
import { belongsTo, type PlannedRow, type ReadModel, readModel } from "../database/read-model.js"
import { UUID, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { Message, type MessageRole, MessageRoleEnum, type MessageType, MessageTypeEnum } from "../entities/message.js"
import { chatReadModel } from "./chat.js"
import { InCompanyOnce } from "./kit/input.js"
import { connectionOf } from "./kit/page.js"
import { messageMedia } from "./media.js"

export const messageReadModel: ReadModel<"Message"> = readModel("Message", {
  replyTo: belongsTo(() => messageReadModel, "replyToMessageId"),
  chat: belongsTo(() => chatReadModel, "chatId"),
  messageMedia,
})

export const MessageConnection = connectionOf(Message)

@InputType({ description: "A new message." })
export class CreateMessageInput extends InCompanyOnce {
  @Field(() => UUID, { nullable: true, description: "The chat; without it the message is only stored." })
  chatId?: string | null

  @Field(() => Verbatim(entityLimits.messageText), { nullable: true, description: "Its text; the caption with media, and needed without." })
  text?: string | null

  @Field(() => MessageRoleEnum, { nullable: true, description: "Who speaks; USER when absent." })
  role?: MessageRole | null

  @Field(() => MessageTypeEnum, { nullable: true, description: "What it is; by the first of its media when absent, TEXT without media." })
  type?: MessageType | null

  @Field(() => [UUID], { nullable: true, description: "Uploaded files to attach, up to 10, in this order." })
  mediaIds?: string[] | null

  @Field(() => UUID, { nullable: true, description: "The earlier message of the same chat that it quotes." })
  replyToMessageId?: string | null
}

type MessageRow = PlannedRow<"Message">
const visibleToVisitors: unknown[] = ["Customer", "User", "Assistant"]

/** Whether a widget's visitor sees a message at all: no system messages and no function frames. */
export const isForVisitors = ({ role, functionCall, functionCallOutput }: MessageRow) =>
  visibleToVisitors.includes(role) && functionCall == null && functionCallOutput == null

/** A message as a widget's visitor sees it: without author, sources and the chat behind it. */
export function forVisitor(row: MessageRow): MessageRow {
  const quoted = row["replyTo"] as MessageRow | null | undefined
  return { ...row, authorId: null, sources: [], chat: null, replyTo: quoted && isForVisitors(quoted) ? forVisitor(quoted) : null }
}
