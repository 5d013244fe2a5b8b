import { Entity, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { type AiDisableReason, AiDisableReasonEnum, type HandOffReason } from "./kit/chat-words.js"
import { clock } from "./kit/clock.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Kinds of actors that change a chat. */
export const ActorKindEnum = words("ActorKind", "Kind of actor that changed a chat.", {
  user: "A signed-in user.",
  token: "An integration with an access token.",
  assistant: "The assistant of the chat.",
  system: "The server itself.",
})
export interface Actor {
  kind: (typeof ActorKindEnum)[string]
  /** The user, token or assistant; null for the system. */
  id: string | null
}

const reasonOfActor: Record<Actor["kind"], HandOffReason> = {
  user: "person",
  token: "integration",
  assistant: "assistant",
  system: "failure",
}

/** Why AI stops when this actor turns it off, unless the caller knows better. */
export const handOffReasonOf = ({ kind }: Actor): HandOffReason => reasonOfActor[kind]

@ObjectType({ description: "A change of AI control of a chat." })
@Entity()
@Index({ properties: ["chatId", "createdAt"] })
export class ControlChange {
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  chatId!: string

  @Field(() => Boolean, { description: "Whether AI was on after the change." })
  @Property({ type: "boolean" })
  isUnderAiControl!: boolean

  @Field(() => AiDisableReasonEnum, { nullable: true, description: "Why AI was turned off; null when it was turned on." })
  @Property({ type: "text", nullable: true })
  aiDisableReason!: AiDisableReason | null

  /** Why AI stopped, for the facts of a stretch; null while AI is on, and in changes from before there were stretches. */
  @Property({ type: "text", nullable: true })
  handOffReason: HandOffReason | null = null

  @Field(() => ActorKindEnum, { description: "Kind of actor that made the change." })
  @Property({ type: "text" })
  actorKind!: Actor["kind"]

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the user, access token or assistant that made the change; null for the system.",
  })
  @Property({ type: "uuid", nullable: true })
  actorId!: string | null

  @Field(() => DateTime, { description: "Time of the change." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
