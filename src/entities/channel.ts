import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Every channel that a chat can be on, in the order of the specification. */
export const messengers = [
  "instagram",
  "telegram",
  "telegram-bot",
  "messenger",
  "whatsapp",
  "whatsapp-business",
  "viber-echat",
  "whatsapp-echat",
  "custom-messenger",
  "widget",
  "prom",
  "rozetka",
  "olx",
  "directhub",
  "sendpulse",
  "sitniks",
  "gmail",
  "resend",
  "playground",
] as const
export type Messenger = (typeof messengers)[number]
export const MessengerEnum = words("Messenger", "The channel that a chat is on.", messengers)

/** How a channel takes a message that quotes another (contract, section 8). */
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

/** Channels where the event is the delivery: their clients listen, nothing is sent to a vendor. */
export const deliveredByEvent: readonly Messenger[] = ["widget", "playground"]

@ObjectType({ description: "How a channel knows the connected account." })
export class ChannelConfig {
  @Field(() => String, { description: "Id of the connected account on the channel; equals fromId of its chats." })
  externalId!: string
}

@ObjectType({ description: "A company's connection to a channel. Credentials are never shown." })
@Entity()
@Unique({ properties: ["companyId", "messenger", "externalId"] })
export class Channel extends CompanyOwned {
  @Field(() => MessengerEnum, { description: "The channel." })
  @Property({ type: "text" })
  messenger!: Messenger

  @Property({ type: "text" })
  externalId!: string

  @Field(() => String, { description: "What people call it." })
  @Property({ type: "text" })
  name!: string

  @Field(() => Boolean, { description: "Whether it takes messages." })
  @Property({ type: "boolean", default: true })
  isActive: boolean = true

  @Field(() => UUID, { nullable: true, description: "The assistant of new private chats that customers open on it." })
  @Property({ type: "uuid", nullable: true })
  assistantId: string | null = null

  @Field(() => ChannelConfig, { description: "How the channel knows the connected account." })
  config?: ChannelConfig

  /** The vendor's credentials, encrypted; never shown. */
  @Property({ type: "text", nullable: true, hidden: true })
  credentials: string | null = null
}
