import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Channels of chats, in the order of the specification. */
export const MessengerEnum = words("Messenger", "Channel of a chat.", {
  instagram: "Instagram.",
  telegram: "A Telegram user account.",
  "telegram-bot": "A Telegram bot.",
  messenger: "Facebook Messenger.",
  whatsapp: "A WhatsApp account.",
  "whatsapp-business": "The WhatsApp Business Platform.",
  "viber-echat": "Viber, through eChat.",
  "whatsapp-echat": "WhatsApp, through eChat.",
  "custom-messenger": "A channel of the integrator.",
  widget: "The chat widget on a website.",
  prom: "The marketplace Prom.",
  rozetka: "The marketplace Rozetka.",
  olx: "The marketplace OLX.",
  directhub: "The aggregator DirectHub.",
  sendpulse: "The aggregator SendPulse.",
  sitniks: "The aggregator Sitniks.",
  gmail: "Email through Gmail.",
  resend: "Email through Resend.",
  playground: "Test chats with an assistant.",
})
export type Messenger = (typeof MessengerEnum)[string]
export const messengers = Object.values(MessengerEnum)

/** Which replies can quote a message, by channel: any reply, or text alone (contract, section 8). Other channels cannot quote. */
export const outboundReplies: Partial<Record<Messenger, "any" | "text">> = {
  telegram: "any",
  "telegram-bot": "any",
  whatsapp: "any",
  "whatsapp-business": "any",
  gmail: "any",
  resend: "any",
  "custom-messenger": "any",
  widget: "any",
  playground: "any",
  instagram: "text",
  messenger: "text",
}

/** Channels without a vendor: their clients receive messages as events, so nothing is sent. */
export const deliveredByEvent: readonly Messenger[] = ["widget", "playground"]

@ObjectType({ description: "Identification of the connected account on its channel." })
export class ChannelConfig {
  @Field(() => String, { description: "ID of the connected account on the channel; equals fromId of its chats." })
  externalId!: string
}

@ObjectType({ description: "A connection of a company to a channel. Credentials are never returned." })
@Entity()
@Unique({ properties: ["companyId", "messenger", "externalId"] })
export class Channel extends CompanyOwned {
  @Field(() => MessengerEnum, { description: "Channel of the connection." })
  @Property({ type: "text" })
  messenger!: Messenger

  @Property({ type: "text" })
  externalId!: string

  @Field(() => String, { description: "Display name." })
  @Property({ type: "text" })
  name!: string

  @Field(() => Boolean, { description: "Whether the connection accepts messages." })
  @Property({ type: "boolean", default: true })
  isActive: boolean = true

  @Field(() => UUID, { nullable: true, description: "ID of the assistant that is assigned to new private chats on this connection." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => ChannelConfig, { description: "Identification of the connected account on the channel." })
  config?: ChannelConfig

  /** The encrypted credentials of the vendor; they are never returned to clients. */
  @Property({ type: "text", nullable: true, hidden: true })
  credentials: string | null = null
}
