import { Entity, Filter, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Float, Int, ObjectType } from "type-graphql"
import { CompanyOwned, Row } from "./kit/row.js"
import { Timestamp, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { entityLimits } from "./limits.js"

/** What a member may do in a company: owners and admins also manage access tokens. */
export const memberRoles = ["owner", "admin", "member"] as const
export type MemberRole = (typeof memberRoles)[number]
export const MemberRoleEnum = words("MemberRole", "What a member may do: owners and admins also manage access tokens.", memberRoles)

/** States of a subscription; `active` and `trialing` count as active until `endsAt`. */
export const subscriptionStatuses = ["active", "trialing", "past_due", "canceled"] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]
/** The states in which AI may work, until `endsAt`. */
export const activeStatuses: readonly SubscriptionStatus[] = ["active", "trialing"]
export const SubscriptionStatusEnum = words(
  "SubscriptionStatus",
  "State of a subscription; active and trialing count as active until endsAt.",
  subscriptionStatuses,
)

@ObjectType({ description: "A person's place in a company." })
@Entity()
@Unique({ properties: ["companyId", "userId"] })
export class Member extends CompanyOwned {
  @Field(() => UUID, { description: "The user." })
  @Property({ type: "uuid", index: true })
  userId!: string

  @Field(() => MemberRoleEnum, { description: "What the member may do." })
  @Property({ type: "text" })
  role!: MemberRole

  @Field(() => String, { description: "The user's email address." })
  email?: string

  @Field(() => String, { description: "The user's name." })
  name?: string
}

@ObjectType("CompanySubscription", { description: "What a company has paid for; one is current at a time." })
@Entity()
@Unique({ properties: ["companyId"] })
export class Subscription extends CompanyOwned {
  @Field(() => String, { description: "Name of the plan." })
  @Property({ type: "text" })
  plan!: string

  @Field(() => SubscriptionStatusEnum, { description: "Its state." })
  @Property({ type: "text" })
  status!: SubscriptionStatus

  @Field(() => Timestamp, { description: "When it began." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  startsAt!: Date

  @Field(() => Timestamp, { nullable: true, description: "When it ends; null while it has no end." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endsAt: Date | null = null

  /** Whether AI may work for the company at this moment. */
  isActiveAt(now: Date) {
    return activeStatuses.includes(this.status) && (this.endsAt === null || this.endsAt > now)
  }
}

@ObjectType({ description: "A workspace: it owns assistants, knowledge, chats, channels and access tokens." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ id: { $in: args["ids"] } }), default: true })
export class Company extends Row {
  @Field(() => String, { description: "Its name." })
  @Property({ type: "text" })
  name!: string

  @Field(() => [Member], { description: "Its people." })
  members?: Member[]

  @Field(() => [Subscription], { description: "Its current subscription, as a list of none or one." })
  subscriptions?: Subscription[]

  @Field(() => Float, { description: "Minutes of calls that are paid for." })
  @Property({ type: "double", default: entityLimits.newVoiceBalance })
  voiceBalance: number = entityLimits.newVoiceBalance

  @Field(() => Int, { description: "Knowledge searches that are left." })
  @Property({ type: "integer", default: entityLimits.newEmbeddingCredits })
  embeddingCredits: number = entityLimits.newEmbeddingCredits

  @Field(() => Int, { description: "How many calls may run at the same time; 0: none is ever dialed." })
  @Property({ type: "integer", default: entityLimits.newVoiceLines })
  voiceLines: number = entityLimits.newVoiceLines
}
