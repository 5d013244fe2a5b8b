import { Entity, Filter, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, Int, ObjectType } from "type-graphql"
import { clock } from "./kit/clock.js"
import { Timestamp, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** What became of a turn: only the first two reached the customer. */
export const turnOutcomes = ["answered", "handed_off", "superseded", "taken_over", "failed", "released", "lost"] as const
export type TurnOutcome = (typeof turnOutcomes)[number]
export const TurnOutcomeEnum = words(
  "TurnOutcome",
  "What became of a turn: it answered, or handed the chat over; a newer message superseded it; the chat was taken over; the model failed; its server stopped and gave it back, or was lost.",
  turnOutcomes,
)

@ObjectType({ description: "A turn that an assistant took in a chat, and what it cost." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
@Index({ properties: ["chatId", "startedAt"] })
@Index({ properties: ["startedAt"] })
export class AssistantTurn {
  /** Also the fence of the running turn, `turnId` of the chat. */
  @Field(() => UUID, { description: "Its id." })
  @PrimaryKey({ type: "uuid" })
  id!: string

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  chatId!: string

  @Field(() => UUID, { nullable: true, description: "The assistant that took it; null when it was deleted." })
  @Property({ type: "uuid", nullable: true })
  assistantId!: string | null

  @Field(() => String, { description: "Name of the text model that was asked." })
  @Property({ type: "text" })
  model!: string

  @Field(() => Int, { description: "How often the model was asked; more than once when it called tools." })
  @Property({ type: "integer", default: 0 })
  rounds: number = 0

  @Field(() => Int, { nullable: true, description: "Tokens that the model read; null where its vendor does not say." })
  @Property({ type: "integer", nullable: true })
  inputTokens: number | null = null

  @Field(() => Int, { nullable: true, description: "Tokens that the model wrote; null where its vendor does not say." })
  @Property({ type: "integer", nullable: true })
  outputTokens: number | null = null

  @Field(() => Int, { nullable: true, description: "How long the model was waited for, in milliseconds; null while the turn runs." })
  @Property({ type: "integer", nullable: true })
  latencyMs: number | null = null

  @Field(() => TurnOutcomeEnum, { nullable: true, description: "What became of it; null while it runs." })
  @Property({ type: "text", nullable: true })
  outcome: TurnOutcome | null = null

  @Field(() => Timestamp, { description: "When it was taken." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  startedAt: Date = clock.now()

  @Field(() => Timestamp, { nullable: true, description: "When it was over; null while it runs." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endedAt: Date | null = null
}

/** Writes what became of a turn; the first to say so decides. */
export async function concludeTurn(em: EntityManager, id: string, outcome: TurnOutcome): Promise<void> {
  await em.nativeUpdate(AssistantTurn, { id, outcome: null }, { outcome, endedAt: clock.now() })
}
