import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { CompanyOwned } from "./kit/row.js"
import type { MessageStatus } from "./message.js"

/** A part of a message that was sent in several: receipts and quotes name parts. */
@Entity()
@Unique({ properties: ["messageId", "position"] })
@Unique({ properties: ["chatId", "externalId"] })
@Index({ properties: ["companyId", "externalId"] })
export class MessagePart extends CompanyOwned {
  @Property({ type: "uuid" })
  chatId!: string

  @Property({ type: "uuid" })
  messageId!: string

  /** Position in the message: 1, 2, 3 … */
  @Property({ type: "integer" })
  position!: number

  /** ID of the part on the channel. */
  @Property({ type: "text" })
  externalId!: string

  /** What the channel reported of the part. */
  @Property({ type: "text", default: "sent" })
  status: MessageStatus = "sent"
}
