import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import type { Messenger } from "./channel.js"
import { CompanyOwned } from "./kit/row.js"

/** A further ID of a chat's customer on the channel, besides the chat's `externalId`; both find the chat. */
@Entity()
@Index({ properties: ["companyId", "chatId"] })
@Unique({ properties: ["companyId", "messenger", "fromId", "externalId"] })
export class ChatIdentity extends CompanyOwned {
  @Property({ type: "uuid" })
  chatId!: string

  @Property({ type: "text" })
  messenger!: Messenger

  /** ID of the connected account, as in the chat. */
  @Property({ type: "text" })
  fromId!: string

  @Property({ type: "text" })
  externalId!: string
}
