import { Embedded, Entity, Index, Property } from "@mikro-orm/decorators/legacy"
import { CompanyOwned } from "./kit/row.js"
import { StorableJson } from "./kit/storable.js"
import { type WorkState, workState } from "./kit/work-state.js"

/** The job that handles what a channel reported and could not be stored at once. */
export const channelItemJob = "channel-item"

const HandlingState = workState(channelItemJob, {
  dueAt: "handling_due_at",
  runId: "handling_id",
  leaseUntil: "handling_lease_until",
  failures: "handling_failures",
})

/** Why an item is kept. */
export type ChannelItemState =
  /** Its content has to be asked for, or it has to wait. */
  | "waiting"
  /** Its content was stored. */
  | "done"
  /** It concerns a message that has not arrived yet. */
  | "early"
  /** It was not understood. */
  | "unsupported"

/** Something that a channel reported and that is not, or not only, a message: it waits, or it is kept for people to look at. */
@Entity()
@Index({
  name: "channel_item_early",
  expression: "create index channel_item_early on channel_item (channel_id, external_id) where state = 'early'",
})
@Index({
  name: "channel_item_due",
  expression: "create index channel_item_due on channel_item (company_id, handling_due_at) where handling_due_at is not null",
})
@Index({
  name: "channel_item_lease",
  expression: "create index channel_item_lease on channel_item (handling_lease_until) where handling_lease_until is not null",
})
@Index({ properties: ["companyId", "channelId"] })
@Index({
  name: "channel_item_chat",
  expression: "create index channel_item_chat on channel_item (company_id, chat_id) where chat_id is not null",
})
@Index({ properties: ["expiresAt"] })
export class ChannelItem extends CompanyOwned {
  @Property({ type: "uuid" })
  channelId!: string

  /** The chat that it concerns, with which it is deleted; null when that is not known. */
  @Property({ type: "uuid", nullable: true })
  chatId: string | null = null

  @Property({ type: "text" })
  state!: ChannelItemState

  /** ID of the message that it concerns, on the channel; null when there is none. */
  @Property({ type: "text", nullable: true })
  externalId: string | null = null

  /** The item, as the adapter read it; of one that was not understood the event of the channel. */
  @Property({ type: StorableJson })
  item: unknown = null

  /** When the row is deleted. */
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  expiresAt!: Date

  @Embedded(() => HandlingState, { prefix: false })
  handling: WorkState = new HandlingState()
}
