import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"

/** A message template that a vendor has approved, and its values. */
export interface MessageTemplate {
  name: string
  language: string
  components?: unknown[] | null
}

/** A message that another one answers: its ID on the channel, and what the adapter keeps of it. */
interface Addressed<Id = string> {
  externalId: Id
  data: unknown
}

/** What a channel's adapter and the delivery keep of a message; no client sees it. */
@Entity()
@Index({ properties: ["companyId", "chatId"] })
@Unique({ properties: ["messageId"] })
export class ChannelMessage extends CompanyOwned {
  @Property({ type: "uuid" })
  chatId!: string

  @Property({ type: "uuid" })
  messageId!: string

  /** What the adapter needs to answer or to quote the message, such as the headers of a mail. */
  @Property({ type: "json", nullable: true })
  data: unknown = null

  @Property({ type: "json", nullable: true })
  template: MessageTemplate | null = null

  /** Answers that the customer can choose by a button, where the channel has buttons. */
  @Property({ type: "json", nullable: true })
  choices: string[] | null = null

  /** What it quotes and answers, as it was at the first attempt: a repeated request must be the same. */
  @Property({ type: "json", nullable: true })
  answers: { quoted: Addressed | null; last: Addressed<string | null> | null } | null = null

  /** IDs of the parts that the channel took, in their order; null where it gave none. */
  @Property({ type: "json", default: "[]" })
  accepted: (string | null)[] = []

  /** When the request with the next part left; null when no request is under way or in doubt. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  sendingSince: Date | null = null

  /** Orders the customer's edits; the newest was applied. */
  @Property({ type: "double", default: 0 })
  version: number = 0

  /** When the message was queued for delivery, the last time. */
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  queuedAt: Date = clock.now()

  /** Requests that failed. */
  @Property({ type: "integer", default: 0 })
  failures: number = 0

  /** Whether a part was sent again although the channel may have taken it. */
  @Property({ type: "boolean", default: false })
  mayBeTwice: boolean = false

  /** Whether AI was turned off while it was being sent: it is not tried again. */
  @Property({ type: "boolean", default: false })
  isWithdrawn: boolean = false

  /** What is kept of a message of a chat. */
  static of({ id: messageId, companyId, chatId }: MessageKey, kept: Partial<ChannelMessage> = {}): ChannelMessage {
    return Object.assign(new ChannelMessage(), { companyId, chatId, messageId, ...kept })
  }
}

interface MessageKey {
  id: string
  companyId: string
  chatId: string | null
}
