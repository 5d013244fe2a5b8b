import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ID, Int, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { type EventType, EventTypeEnum } from "./event.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, JSONValue, UUID } from "./kit/scalars.js"
import { StorableJson } from "./kit/storable.js"
import { words } from "./kit/words.js"

/** State of the delivery of an event to an endpoint. */
export const EventDeliveryStatusEnum = words("EventDeliveryStatus", "State of a delivery.", {
  pending: "It waits for its first attempt, or for the next one.",
  succeeded: "The endpoint answered with a 2xx status.",
  failed: "The last attempt failed.",
  cancelled: "It was not sent, because its chat was deleted.",
})
export type EventDeliveryStatus = (typeof EventDeliveryStatusEnum)[string]

@ObjectType({ description: "One request with an event to an endpoint, and its result." })
export class EventDeliveryAttempt {
  @Field(() => DateTime, { description: "Time of the request." })
  attemptedAt!: string

  @Field(() => Int, { nullable: true, description: "HTTP status of the response; null without a response." })
  responseStatus!: number | null

  @Field(() => String, { nullable: true, description: "The first 4 KB of the response." })
  responseBody!: string | null

  @Field(() => Int, { description: "Time until the response, in milliseconds." })
  latencyMs!: number

  @Field(() => String, { nullable: true, description: "Why the attempt failed, in one sentence; null when it succeeded." })
  error!: string | null
}

@ObjectType({
  description: "The delivery of an event to an endpoint. The ID of the event is sent as webhook-id, the same with each attempt.",
})
@Entity()
@Unique({ name: "event_delivery_event", properties: ["webhookId", "eventId"] })
@Index({ properties: ["companyId", "webhookId", "createdAt"] })
@Index({
  name: "event_delivery_due",
  expression: "create index event_delivery_due on event_delivery (webhook_id, due_at, position) where due_at is not null",
})
@Index({
  name: "event_delivery_pending",
  expression: "create index event_delivery_pending on event_delivery (webhook_id, chat_id, position) where status = 'pending'",
})
@Index({
  name: "event_delivery_chat",
  expression: "create index event_delivery_chat on event_delivery (chat_id) where chat_id is not null and snapshot is not null",
})
@Index({ properties: ["createdAt"] })
export class EventDelivery extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the endpoint." })
  @Property({ type: "uuid" })
  webhookId!: string

  @Field(() => ID, { description: "ID of the event." })
  @Property({ type: "text" })
  eventId!: string

  /** Position of the event in the log; null for a test. */
  @Property({ type: "bigint", nullable: true })
  position: string | null = null

  /** The chat of the event, which may be deleted. */
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Field(() => EventTypeEnum, { description: "Type of the event." })
  @Property({ type: "text" })
  type!: EventType

  @Field(() => EventDeliveryStatusEnum, { description: "State of the delivery." })
  @Property({ type: "text", default: "pending" })
  status: EventDeliveryStatus = "pending"

  @Field(() => JSONValue, {
    nullable: true,
    description: "Payload of the event as it is sent; null in lists, and when its chat was deleted.",
  })
  payload?: unknown

  /** The payload as the event log stores it; null when the chat was deleted. */
  @Property({ type: StorableJson, nullable: true })
  snapshot: object | null = null

  /** Time of the event. */
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  eventCreatedAt!: Date

  @Field(() => [EventDeliveryAttempt], { description: "The attempts, oldest first; the newest 50." })
  @Property({ type: StorableJson, default: "[]" })
  attempts: EventDeliveryAttempt[] = []

  /** Scheduled attempts that failed. */
  @Property({ type: "integer", default: 0 })
  failures: number = 0

  /** When the schedule has the next attempt; null when it has ended. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  retryAt: Date | null = null

  /** When a further attempt was requested that has not been made. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  requestedAt: Date | null = null

  /** When the next attempt is due, scheduled or requested. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  dueAt: Date | null = null

  @Field(() => DateTime, { nullable: true, description: "Time of the next attempt; null when none follows." })
  nextAttemptAt?: Date | null

  /** Requests an attempt now; the scheduled ones go on. */
  redeliver() {
    if (!this.snapshot) throw new BadUserInput("The payload of this event was deleted with its chat")
    this.requestedAt = this.dueAt = clock.now()
  }
}
