import { Field, InputType, Int, ObjectType } from "type-graphql"
import { computed, readModel } from "../database/read-model.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { Trimmed } from "../entities/kit/scalars.js"
import { WebAddress } from "../entities/kit/web-address.js"
import { BadUserInput } from "../errors/errors.js"
import { InCompany } from "./kit/input.js"
import { schemaLimits } from "./limits.js"

/** Only the responses of a creation and a rotation contain the secret. */
export const eventWebhookReadModel = readModel("EventWebhook", { secret: computed([], () => null) })

const EventQuery = Trimmed({ max: schemaLimits.eventQuery })
const queryDescription =
  "Selection on the type Event, such as { type message { text } }, that is sent as the payload; only fields that are stored with the event. Default: the payload that a subscription receives."

@InputType({ description: "The endpoint for events to create." })
export class CreateEventWebhookInput extends InCompany {
  @Field(() => WebAddress, { description: "URL to which events are sent with POST." })
  url!: string

  @Field(() => [EventTypeEnum], { description: "Types of the events to send, at least one." })
  types!: EventType[]

  @Field(() => EventQuery, { nullable: true, description: queryDescription })
  query?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether nothing is sent. Default: false." })
  disabled?: boolean | null

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether an event of a chat waits until the delivery of the chat's event before it has ended. Default: false.",
  })
  ordered?: boolean | null
}

@InputType({ description: "The fields of an endpoint for events to change." })
export class UpdateEventWebhookInput {
  @Field(() => WebAddress, { nullable: true, description: "URL to which events are sent with POST." })
  url?: string | null

  @Field(() => [EventTypeEnum], { nullable: true, description: "Types of the events to send, at least one." })
  types?: EventType[] | null

  @Field(() => EventQuery, { nullable: true, description: `${queryDescription} Null: the same.` })
  query?: string | null

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether nothing is sent. False enables the endpoint again, and sends what waited.",
  })
  disabled?: boolean | null

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether an event of a chat waits until the delivery of the chat's event before it has ended.",
  })
  ordered?: boolean | null
}

@ObjectType({ description: "The result of a redelivery of the events of a time range." })
export class RedeliverEventsResult {
  @Field(() => Int, { description: "Number of events that are sent." })
  count!: number
}

/** The types of an endpoint, each once; throws when there are none. */
export function eventTypesOf(types: EventType[]): EventType[] {
  if (types.length === 0) throw new BadUserInput("types must not be empty", [{ path: "types", message: "must not be empty" }])
  return [...new Set(types)]
}
