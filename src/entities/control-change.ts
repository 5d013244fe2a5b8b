import { Entity, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { type AiDisableReason, AiDisableReasonEnum } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import { Timestamp, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Who did something to a chat. */
export const actorKinds = ["user", "token", "assistant", "system"] as const
export interface Actor {
  kind: (typeof actorKinds)[number]
  /** The user, token or assistant; null for the system. */
  id: string | null
}
export const ActorKindEnum = words("ActorKind", "Who did something to a chat.", actorKinds)

@ObjectType({ description: "That AI control of a chat changed: who or what did it, and when." })
@Entity()
@Index({ properties: ["chatId", "createdAt"] })
export class ControlChange {
  @Field(() => UUID, { description: "Its id." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  chatId!: string

  @Field(() => Boolean, { description: "Whether AI was on afterwards." })
  @Property({ type: "boolean" })
  isUnderAiControl!: boolean

  @Field(() => AiDisableReasonEnum, { nullable: true, description: "Why AI was turned off; null when it was turned on." })
  @Property({ type: "text", nullable: true })
  aiDisableReason!: AiDisableReason | null

  @Field(() => ActorKindEnum, { description: "What kind of actor did it." })
  @Property({ type: "text" })
  actorKind!: Actor["kind"]

  @Field(() => UUID, { nullable: true, description: "The user, token or assistant that did it; null for the system." })
  @Property({ type: "uuid", nullable: true })
  actorId!: string | null

  @Field(() => Timestamp, { description: "When it happened." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
