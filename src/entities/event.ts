import { Entity, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { clock } from "./kit/clock.js"
import { words } from "./kit/words.js"

/** Types of events (contract, section 7). */
export const EventTypeEnum = words("EventType", "Type of an event.", {
  MESSAGE_CREATED: "A message was created in a chat.",
  MESSAGE_UPDATED: "A message changed, for example its delivery status.",
  CHAT_CREATED: "A chat was created.",
  CHAT_UPDATED: "A chat changed.",
  CHAT_DELETED: "A chat was deleted.",
  CHAT_MODE_CHANGED: "AI control of a chat changed.",
  CHANNEL_UPDATED: "A channel connection changed: its channel refuses the credentials, or accepts them again.",
  TOOL_CALL_REQUESTED: "The assistant called a tool of type WEBHOOK_CLIENT; a client must answer with answerToolCall.",
  CALL_STARTED: "The customer answered a call.",
  CALL_ENDED: "A call ended, also one that was not connected or never dialed.",
  CALL_TRANSCRIBED: "The replies of a call were stored.",
  STRETCH_ENDED: "A stretch of a chat ended: its facts and its outcome are known.",
  STRETCH_RATED: "The customer rated an ended stretch of a chat.",
  GUARDRAIL_HIT: "A rule of an assistant's guardrails hit a text.",
  EVENT_WEBHOOK_DISABLED: "The server disabled an endpoint for events, because it failed for days or asked for no more.",
  EVENT_WEBHOOK_TEST: "A test of an endpoint for events; sent to that endpoint alone.",
})
export type EventType = (typeof EventTypeEnum)[string]

/**
 * An event, written in the transaction of its change. The sequencer assigns its position after the commit, to committed rows only: a
 * position taken inside the transaction could become visible after a later one was already read.
 */
@Entity()
@Index({ name: "event_unplaced", expression: "create index event_unplaced on event (id) where position is null" })
@Index({ name: "event_position", expression: "create index event_position on event (position) where position is not null" })
@Index({ name: "event_company", expression: "create index event_company on event (company_id, position) where position is not null" })
@Index({ name: "event_chat", expression: "create index event_chat on event (chat_id, position) where position is not null" })
@Index({ name: "event_chat_deleted", expression: "create index event_chat_deleted on event (chat_id) where type = 'CHAT_DELETED'" })
export class Event {
  @PrimaryKey({ type: "bigint", autoincrement: true })
  id!: string

  @Property({ type: "bigint", nullable: true })
  position: string | null = null

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Property({ type: "text" })
  type!: EventType

  /** `{ value }`, or `{ message }` or `{ chat }` with the columns of the row at commit, by property names. */
  @Property({ type: "json" })
  payload!: unknown

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}

/** The only row of the log: the last position that was assigned, and the position up to which events were deleted. */
@Entity()
export class EventLog {
  @PrimaryKey({ type: "integer" })
  id!: number

  @Property({ type: "bigint", default: 0 })
  lastPosition!: string

  @Property({ type: "bigint", default: 0 })
  clearedTo!: string
}

/** The only row of the reader that makes deliveries of events: the position up to which it has read the log. */
@Entity()
export class EventFanOut {
  @PrimaryKey({ type: "integer" })
  id!: number

  @Property({ type: "bigint", default: 0 })
  position!: string
}
