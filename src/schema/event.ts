import { Field, ID, ObjectType } from "type-graphql"
import { Chat } from "../entities/chat.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { JSONValue, Timestamp } from "../entities/kit/scalars.js"
import { Message } from "../entities/message.js"

@ObjectType("Event", { description: "Something that happened in a company." })
export class EventShape {
  @Field(() => ID, { description: "Opaque resume cursor: `after` continues behind it." })
  id!: string

  @Field(() => EventTypeEnum, { description: "What happened." })
  type!: EventType

  @Field(() => Timestamp, { description: "When it happened." })
  createdAt!: string

  @Field(() => JSONValue, { description: "What happened in detail; for messages and chats the resource as REST showed it at commit." })
  payload!: unknown

  @Field(() => Message, { nullable: true, description: "The message, on message events." })
  message?: Message | null

  @Field(() => Chat, { nullable: true, description: "The chat, on chat events." })
  chat?: Chat | null
}
