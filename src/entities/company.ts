import { Entity, Filter, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Float, Int, ObjectType } from "type-graphql"
import { Audited } from "./kit/audited.js"
import { CompanyOwned, Row } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { entityLimits } from "./limits.js"

/** Role of a member of a company. */
export const MemberRoleEnum = words("MemberRole", "Role of a member of a company.", {
  owner: "All permissions, including management of access tokens and reading of the audit trail.",
  admin: "All permissions, including management of access tokens and reading of the audit trail.",
  member: "All permissions except management of access tokens and reading of the audit trail.",
})
export type MemberRole = (typeof MemberRoleEnum)[string]
export const memberRoles = Object.values(MemberRoleEnum)

/** Status of a subscription; `active` and `trialing` are valid until `endsAt`. */
export const SubscriptionStatusEnum = words("SubscriptionStatus", "Status of a subscription. ACTIVE and TRIALING are valid until endsAt.", {
  active: "Paid.",
  trialing: "In the trial period.",
  past_due: "A payment is overdue; not valid.",
  canceled: "Canceled; not valid.",
})
export type SubscriptionStatus = (typeof SubscriptionStatusEnum)[string]
export const subscriptionStatuses = Object.values(SubscriptionStatusEnum)
/** Plans that the command line accepts without asking; a plan is a name, which no rule depends on. */
export const subscriptionPlans = ["demo", "free", "trial", "starter", "basic", "standard", "pro", "premium", "business", "enterprise"]
/** Statuses of a valid subscription, until `endsAt`. */
export const activeStatuses: readonly SubscriptionStatus[] = ["active", "trialing"]

@ObjectType({ description: "The membership of a user in a company." })
@Entity()
@Unique({ properties: ["companyId", "userId"] })
@Audited<Member>({ subjectId: "userId" })
export class Member extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the user." })
  @Property({ type: "uuid", index: true })
  userId!: string

  @Field(() => MemberRoleEnum, { description: "Role of the member, which decides on permissions." })
  @Property({ type: "text" })
  role!: MemberRole

  @Field(() => String, { description: "Email address of the user." })
  email?: string

  @Field(() => String, { description: "Name of the user." })
  name?: string
}

@ObjectType("CompanySubscription", { description: "A subscription of a company to a plan; a company has at most one." })
@Entity()
@Unique({ properties: ["companyId"] })
@Audited()
export class Subscription extends CompanyOwned {
  @Field(() => String, { description: "Name of the plan." })
  @Property({ type: "text" })
  plan!: string

  @Field(() => SubscriptionStatusEnum, { description: "Status of the subscription." })
  @Property({ type: "text" })
  status!: SubscriptionStatus

  @Field(() => DateTime, { description: "Start time." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  startsAt!: Date

  @Field(() => DateTime, { nullable: true, description: "End time; null when the subscription has no end." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endsAt: Date | null = null

  /** Whether the subscription is valid at a time, so that AI may work for the company. */
  isActiveAt(now: Date) {
    return activeStatuses.includes(this.status) && (this.endsAt === null || this.endsAt > now)
  }
}

@ObjectType({ description: "A company (workspace): it owns assistants, knowledge items, chats, channel connections and access tokens." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ id: { $in: args["ids"] } }), default: true })
@Audited<Company>({ internal: ["closedAt"] })
export class Company extends Row {
  @Field(() => String, { description: "Name of the company." })
  @Property({ type: "text" })
  name!: string

  @Field(() => [Member], { description: "Members of the company." })
  members?: Member[]

  @Field(() => [Subscription], { description: "The current subscription: a list with at most one item." })
  subscriptions?: Subscription[]

  @Field(() => Float, { description: "Remaining balance for calls, in minutes." })
  @Property({ type: "double", default: entityLimits.newVoiceBalance })
  voiceBalance: number = entityLimits.newVoiceBalance

  @Field(() => Int, { description: "Remaining number of knowledge searches." })
  @Property({ type: "integer", default: entityLimits.newEmbeddingCredits })
  embeddingCredits: number = entityLimits.newEmbeddingCredits

  @Field(() => Int, { description: "Maximum number of simultaneous calls; with 0 no call is dialed." })
  @Property({ type: "integer", default: entityLimits.newVoiceLines })
  voiceLines: number = entityLimits.newVoiceLines

  /** When the deletion began, which takes a while; since then no member reaches the company. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  closedAt: Date | null = null
}
