import { randomBytes } from "node:crypto"
import { Embedded, Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { type EventType, EventTypeEnum } from "./event.js"
import { Audited } from "./kit/audited.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime } from "./kit/scalars.js"
import { type SealingKeys, seal, unseal } from "./kit/sealed.js"
import { TextList } from "./kit/text-list.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"

const SendingState = workState("send-events", {
  dueAt: "sending_due_at",
  runId: "sending_id",
  leaseUntil: "sending_lease_until",
  failures: "sending_failures",
})

/** An endpoint as a request needs it. */
export type EndpointKey = Pick<
  EventWebhook,
  "id" | "companyId" | "url" | "query" | "sealedSecret" | "sealedPreviousSecret" | "previousSecretUntil"
>

/** The secrets that sign requests to an endpoint now, the current one first. Throws `CannotUnseal` if another key encrypted one. */
export function signingSecrets(endpoint: EndpointKey, { encryptionKey, encryptionKeyPrevious }: SealingKeys): string[] {
  const { sealedSecret, sealedPreviousSecret, previousSecretUntil } = endpoint
  const isValid = previousSecretUntil !== null && previousSecretUntil > clock.now()
  return [sealedSecret, isValid ? sealedPreviousSecret : null].flatMap((sealed) =>
    sealed === null ? [] : [unseal(sealed, encryptionKey, encryptionKeyPrevious)],
  )
}

@ObjectType({ description: "An endpoint of an integrator, to which the server sends the company's events." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ properties: ["companyId", "createdAt"] })
@Index({
  name: "event_webhook_enabled",
  expression: "create index event_webhook_enabled on event_webhook (from_position) where not disabled",
})
@Index({
  name: "event_webhook_due",
  expression: "create index event_webhook_due on event_webhook (company_id, sending_due_at) where sending_due_at is not null",
})
@Index({
  name: "event_webhook_lease",
  expression: "create index event_webhook_lease on event_webhook (sending_lease_until) where sending_lease_until is not null",
})
@Audited<EventWebhook>({
  names: { sealedSecret: "secret" },
  internal: ["sealedPreviousSecret", "previousSecretUntil", "failingSince", "failuresInRow", "fromPosition", "sending"],
})
export class EventWebhook extends CompanyOwned {
  @Field(() => String, { description: "URL to which events are sent with POST." })
  @Property({ type: "text" })
  url!: string

  @Field(() => [EventTypeEnum], { description: "Types of the events that are sent." })
  @Property({ type: TextList, columnType: "text[]" })
  types!: EventType[]

  @Field(() => String, {
    nullable: true,
    description: "Selection on the type Event that is sent as the payload; null for the payload that a subscription receives.",
  })
  @Property({ type: "text", nullable: true })
  query: string | null = null

  @Field(() => Boolean, { description: "Whether nothing is sent. What waits is kept, and new events get no delivery." })
  @Property({ type: "boolean", default: false })
  disabled: boolean = false

  @Field(() => String, {
    nullable: true,
    description: "Why the server disabled the endpoint; null when it is enabled, or when a person disabled it.",
  })
  @Property({ type: "text", nullable: true })
  disabledReason: string | null = null

  @Field(() => Boolean, { description: "Whether an event of a chat waits until the delivery of the chat's event before it has ended." })
  @Property({ type: "boolean", default: false })
  ordered: boolean = false

  @Field(() => DateTime, {
    nullable: true,
    description: "Time of the first failure after the last success; null when the last attempt succeeded.",
  })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  failingSince: Date | null = null

  @Field(() => String, {
    nullable: true,
    description: "Secret that signs the requests; returned only by createEventWebhook and rotateEventWebhookSecret, otherwise null.",
  })
  secret?: string

  @Property({ type: "text", hidden: true })
  sealedSecret!: string

  /** The secret before the last rotation, which signs too until `previousSecretUntil`. */
  @Property({ type: "text", nullable: true, hidden: true })
  sealedPreviousSecret: string | null = null

  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  previousSecretUntil: Date | null = null

  /** Attempts that failed since the last success. */
  @Property({ type: "integer", default: 0 })
  failuresInRow: number = 0

  /** Position in the event log after which the endpoint gets events: the end of the log when it was enabled. */
  @Property({ type: "bigint" })
  fromPosition!: string

  @Embedded(() => SendingState, { prefix: false })
  sending: WorkState = new SendingState()

  /** Creates an enabled endpoint; only the returned object holds the value of its secret. */
  static create(companyId: string, url: string, types: EventType[], fromPosition: string, key: Buffer): EventWebhook {
    const webhook = Object.assign(new EventWebhook(), { companyId, url, types, fromPosition })
    webhook.newSecret(key)
    return webhook
  }

  private newSecret(key: Buffer) {
    this.secret = `whsec_${randomBytes(entityLimits.eventWebhookSecretBytes).toString("base64")}`
    this.sealedSecret = seal(this.secret, key)
  }

  /** Replaces the secret; the one before signs too for a while, an older one no more. */
  rotateSecret(key: Buffer) {
    this.sealedPreviousSecret = this.sealedSecret
    this.previousSecretUntil = new Date(clock.now().getTime() + entityLimits.previousSecretMs)
    this.newSecret(key)
  }

  /** Enables the endpoint: what waits is due, and it gets the events after this position of the log. */
  enable(fromPosition: string) {
    if (!this.disabled) return
    Object.assign(this, { disabled: false, disabledReason: null, failingSince: null, failuresInRow: 0, fromPosition })
    this.expectWork(this.sending, clock.now())
  }

  /** Throws when the endpoint is disabled, so that nothing can be sent to it. */
  mustBeEnabled() {
    if (this.disabled) throw new BadUserInput("The endpoint is disabled; enable it first")
  }

  /** Disables the endpoint for a reason that its company is told, also by an event. */
  disableBecause(disabledReason: string) {
    Object.assign(this, { disabled: true, disabledReason })
    const value = { webhookId: this.id, url: this.url, disabledReason, disabledAt: clock.now().toISOString() }
    this.emit({ type: "EVENT_WEBHOOK_DISABLED", companyId: this.companyId, chatId: null, payload: { value } })
  }
}
