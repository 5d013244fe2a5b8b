import { ArrayType } from "@mikro-orm/core"
import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { Chat } from "./chat.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"

/**
 * A search of the knowledge, in a chat or on a call, that found nothing about its query. A trigger writes it in the transaction that stores the
 * outcome of the search, whose ID it has.
 */
@ObjectType({ description: "A question of a customer to which the search of the knowledge found nothing, as the assistant asked it." })
@Entity()
@Index({ properties: ["companyId", "chatId"] })
@Index({ properties: ["companyId", "callId"] })
@Index({ properties: ["companyId", "assistantId"] })
@Index({ properties: ["companyId", "askedAt"] })
@Index({ name: "asked_question_group", expression: "create index asked_question_group on asked_question (company_id, group_id)" })
@Index({
  name: "asked_question_ungrouped",
  expression: "create index asked_question_ungrouped on asked_question (asked_at) where group_id is null",
})
@Index({ name: "asked_question_age", expression: "create index asked_question_age on asked_question (asked_at)" })
export class AskedQuestion extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the assistant that searched." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => UUID, { nullable: true, description: "ID of the chat; null for a question on a call." })
  @Property({ type: "uuid", nullable: true })
  chatId!: string | null

  @Field(() => UUID, { nullable: true, description: "ID of the call; null for a question in a chat." })
  @Property({ type: "uuid", nullable: true })
  callId!: string | null

  @Field(() => String, { description: "What was searched for." })
  @Property({ type: "text" })
  question!: string

  @Field(() => DateTime, { description: "Time of the search." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  askedAt!: Date

  /** The group of questions that ask for the same; null until the sweep has compared it with others. */
  @Property({ type: "uuid", nullable: true })
  groupId!: string | null

  /** When a person closed the unanswered question that it belongs to. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  closedAt!: Date | null

  @Field(() => Chat, { nullable: true, description: "The chat." })
  chat?: Chat | null
}

/** Questions to an assistant that ask for the same, by the vector of the first of them. */
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ properties: ["companyId", "assistantId", "createdAt"] })
export class QuestionGroup extends CompanyOwned {
  @Property({ type: "uuid" })
  assistantId!: string

  /** The embedding that made the vector; questions are compared with vectors of the configured one. */
  @Property({ type: "text" })
  embeddingId!: string

  @Property({ type: new ArrayType(Number), columnType: "real[]" })
  vector!: number[]
}
