import { Entity, Filter, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Kinds of actors in the audit trail. */
export const AuditActorKindEnum = words("AuditActorKind", "Kind of actor in the audit trail.", {
  USER: "A signed-in user.",
  TOKEN: "An integration with an access token.",
  SYSTEM: "The operator on the command line, or the server itself.",
})
export type AuditActorKind = (typeof AuditActorKindEnum)[string]

@ObjectType({ description: "A change of an object, without any value: who changed which fields, when, and from where." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
@Index({ name: "audit_entry_newest", expression: "create index audit_entry_newest on audit_entry (company_id, created_at desc, id desc)" })
@Index({ name: "audit_entry_age", expression: "create index audit_entry_age on audit_entry (created_at)" })
export class AuditEntry {
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Field(() => UUID, { description: "ID of the company that owns the changed object." })
  @Property({ type: "uuid" })
  companyId!: string

  @Field(() => AuditActorKindEnum, { description: "Kind of actor that made the change." })
  @Property({ type: "text" })
  actorKind!: AuditActorKind

  @Field(() => UUID, { nullable: true, description: "ID of the user or access token that made the change; null for SYSTEM." })
  @Property({ type: "uuid", nullable: true })
  actorId!: string | null

  @Field(() => String, {
    description: "Name of the mutation, also for a REST request; of the command, such as channel:connect; or of the job.",
  })
  @Property({ type: "text" })
  action!: string

  @Field(() => String, {
    description:
      "Type of the changed object: Assistant, AssistantTool, Knowledge, AccessToken, Channel, Member, Subscription, or Company, which has the balances.",
  })
  @Property({ type: "text" })
  subjectType!: string

  @Field(() => UUID, { description: "ID of the changed object; for a Member that of the user." })
  @Property({ type: "uuid" })
  subjectId!: string

  @Field(() => [String], {
    description: "Names of the changed fields; of a new object those that differ from their defaults; none for a deletion.",
  })
  @Property({ type: "string[]", columnType: "text[]" })
  changed!: string[]

  @Field(() => String, { nullable: true, description: "Address of the client; null for SYSTEM." })
  @Property({ type: "text", nullable: true })
  address!: string | null

  @Field(() => String, { nullable: true, description: "X-Request-Id of the request; null for SYSTEM." })
  @Property({ type: "text", nullable: true })
  requestId!: string | null

  @Field(() => DateTime, { description: "Time of the change." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
