import { Embedded, Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { Audited } from "./kit/audited.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"

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

/** Channels without a vendor: their clients receive messages as events, so nothing is sent. */
export const deliveredByEvent: readonly Messenger[] = ["widget", "playground"]

@ObjectType({ description: "Identification of the connected account on its channel." })
export class ChannelConfig {
  @Field(() => String, { description: "ID of the connected account on the channel; equals fromId of its chats." })
  externalId!: string
}

@ObjectType({ description: "What a channel can do." })
export class ChannelCapabilities {
  @Field(() => Boolean, { description: "Whether a message can quote another." })
  replies!: boolean

  @Field(() => Boolean, { description: "Whether a message with files can quote another." })
  repliesWithMedia!: boolean

  @Field(() => [String], { description: "Kinds of files that can be sent: image, video, audio, document." })
  mediaKinds!: string[]

  @Field(() => Boolean, { description: "Whether files can have a caption." })
  captions!: boolean

  @Field(() => Int, { description: "Longest text of one message on the channel; a longer one is sent in several." })
  textLength!: number

  @Field(() => Int, { nullable: true, description: "Hours after the customer's last message in which messages can be sent." })
  windowHours!: number | null

  @Field(() => Boolean, { description: "Whether customers see that the assistant is typing." })
  typing!: boolean

  @Field(() => [String], { description: "Receipts that the channel sends: delivered, read." })
  receipts!: string[]
}

/** The job that reads the events of a connection from a vendor that calls no hook. */
export const pollJob = "poll-channel"

const PollState = workState(pollJob, {
  dueAt: "poll_due_at",
  runId: "poll_id",
  leaseUntil: "poll_lease_until",
  failures: "poll_failures",
})

@ObjectType({ description: "A connection of a company to a channel. Credentials are never returned." })
@Entity()
@Unique({ properties: ["companyId", "messenger", "externalId"] })
@Unique({ properties: ["companyId", "id"] })
@Index({
  name: "channel_poll_due",
  expression: "create index channel_poll_due on channel (company_id, poll_due_at) where poll_due_at is not null",
})
@Index({
  name: "channel_poll_lease",
  expression: "create index channel_poll_lease on channel (poll_lease_until) where poll_lease_until is not null",
})
@Audited<Channel>({ names: { externalId: "config" }, internal: ["problem", "lastInboundAt", "nextSendAt", "polling", "pollState"] })
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

  @Field(() => String, {
    nullable: true,
    description: "What customers are asked when a stretch of their chat has ended, with a rating of 1 to 5 as the answer; null: nothing.",
  })
  @Property({ type: "text", nullable: true })
  ratingQuestion: string | null = null

  @Field(() => ChannelConfig, { description: "Identification of the connected account on the channel." })
  config?: ChannelConfig

  @Field(() => String, {
    nullable: true,
    description: "What the channel said when it refused the credentials, which stopped deliveries; null while they work.",
  })
  @Property({ type: "text", nullable: true })
  problem: string | null = null

  @Field(() => DateTime, { nullable: true, description: "Time of the last message from the channel, to the minute." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastInboundAt: Date | null = null

  @Field(() => Int, { description: "Number of messages that wait for their delivery." })
  queued?: number

  @Field(() => ChannelCapabilities, { description: "What the channel can do." })
  capabilities?: ChannelCapabilities

  /** The encrypted credentials of the vendor; they are never returned to clients. */
  @Property({ type: "text", nullable: true, hidden: true })
  credentials: string | null = null

  /** Work state of reading events from a vendor that calls no hook. */
  @Embedded(() => PollState, { prefix: false })
  polling: WorkState = new PollState()

  /** Time from which the next message may leave, so that the connection keeps to the vendor's rate. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  nextSendAt: Date | null = null

  /** Where the next poll continues, in the words of the adapter. */
  @Property({ type: "json", nullable: true })
  pollState: unknown = null

  /** Marks the credentials as refused by the vendor, in its words, or as working; emits CHANNEL_UPDATED when that changes. */
  setProblem(problem: string | null) {
    if (this.problem === problem) return
    this.problem = problem
    this.changed()
  }

  /** Emits the event CHANNEL_UPDATED. */
  changed() {
    this.emit({ type: "CHANNEL_UPDATED", companyId: this.companyId, chatId: null, payload: { row: "Channel", id: this.id } })
  }
}
