import { Field, ID, ObjectType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { Chat } from "../entities/chat.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { GuardrailHit } from "../entities/guardrail-hit.js"
import { DateTime, JSONValue, UUID } from "../entities/kit/scalars.js"
import { Message } from "../entities/message.js"
import { Stretch } from "../entities/stretch.js"

/** Events of the log, which `services.eventStream` reads in their order. */
export const eventReadModel = readModel("Event")

@ObjectType("Event", { description: "An event in a company." })
export class EventShape {
  @Field(() => ID, { description: "Opaque cursor; a subscription with this value as `after` continues after this event." })
  id!: string

  @Field(() => EventTypeEnum, { description: "Type of the event." })
  type!: EventType

  @Field(() => DateTime, { description: "Time of the event." })
  createdAt!: string

  @Field(() => UUID, { nullable: true, description: "ID of the event's chat, also when it is deleted; null for an event of no chat." })
  chatId!: string | null

  @Field(() => JSONValue, {
    description:
      "Details of the event; for a message, a chat, a stretch, a call or a guardrail hit, its REST representation at the time of the event.",
  })
  payload!: unknown

  @Field(() => Message, { nullable: true, description: "The message, for message events." })
  message?: Message | null

  @Field(() => Stretch, { nullable: true, description: "The stretch, for the events of its end and its rating." })
  stretch?: Stretch | null

  @Field(() => GuardrailHit, { nullable: true, description: "The hit, for the event of a guardrail hit." })
  guardrailHit?: GuardrailHit | null

  @Field(() => Chat, {
    nullable: true,
    description: "The chat of the event: for chat events as it was then, for others as it is now; null when it is deleted.",
  })
  chat?: Chat | null
}
