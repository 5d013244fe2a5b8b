import { Entity, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { clock } from "./kit/clock.js"
import { words } from "./kit/words.js"

/** What clients can hear of (contract, section 7). */
export const eventTypes = [
  "MESSAGE_CREATED",
  "MESSAGE_UPDATED",
  "CHAT_CREATED",
  "CHAT_UPDATED",
  "CHAT_DELETED",
  "CHAT_MODE_CHANGED",
  "TOOL_CALL_REQUESTED",
] as const
export type EventType = (typeof eventTypes)[number]
export const EventTypeEnum = words("EventType", "What happened.", eventTypes)

/**
 * Something that happened, written in the transaction of its change. Its place in the log is given after commit, by the sequencer, to
 * committed rows only: a number taken inside the transaction could become visible after a later one was already read.
 */
@Entity()
@Index({ name: "event_unplaced", expression: "create index event_unplaced on event (id) where position is null" })
@Index({ name: "event_position", expression: "create index event_position on event (position) where position is not null" })
@Index({ name: "event_company", expression: "create index event_company on event (company_id, position) where position is not null" })
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

  /** `{ value }`, or `{ message }` or `{ chat }`: the row as it was at commit, by property names. */
  @Property({ type: "json" })
  payload!: unknown

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}

/** The one row that knows how far the log has been placed, and how far it has been cleared away. */
@Entity()
export class EventLog {
  @PrimaryKey({ type: "integer" })
  id!: number

  @Property({ type: "bigint", default: 0 })
  lastPosition!: string

  @Property({ type: "bigint", default: 0 })
  clearedTo!: string
}
