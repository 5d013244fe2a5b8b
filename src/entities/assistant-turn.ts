import { Entity, Filter, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, Int, ObjectType } from "type-graphql"
import { clock } from "./kit/clock.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Result of a turn; only `answered` and `handed_off` produce a message. */
export const TurnOutcomeEnum = words("TurnOutcome", "Result of a turn of an assistant.", {
  answered: "The assistant answered.",
  handed_off: "The assistant handed the chat over to a person.",
  superseded: "A newer customer message replaced the turn.",
  taken_over: "A person took the chat over; the answer was dropped.",
  failed: "The text model failed.",
  released: "The server shut down and returned the turn to the queue.",
  lost: "The server stopped before the end of the turn.",
})
export type TurnOutcome = (typeof TurnOutcomeEnum)[string]

@ObjectType({ description: "One turn of an assistant in a chat, with its use of the text model." })
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
@Index({ properties: ["chatId", "startedAt"] })
@Index({ properties: ["startedAt"] })
export class AssistantTurn {
  /** Also the fencing token of the running turn: `turn.runId` of its chat. */
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id!: string

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  chatId!: string

  @Field(() => UUID, { nullable: true, description: "ID of the assistant that took the turn; null when the assistant was deleted." })
  @Property({ type: "uuid", nullable: true })
  assistantId!: string | null

  @Field(() => String, { description: "Name of the text model." })
  @Property({ type: "text" })
  model!: string

  @Field(() => Int, { description: "Number of requests to the text model; more than one when it called tools." })
  @Property({ type: "integer", default: 0 })
  rounds: number = 0

  @Field(() => Int, { nullable: true, description: "Number of input tokens; null when the vendor does not report it." })
  @Property({ type: "integer", nullable: true })
  inputTokens: number | null = null

  @Field(() => Int, { nullable: true, description: "Number of output tokens; null when the vendor does not report it." })
  @Property({ type: "integer", nullable: true })
  outputTokens: number | null = null

  @Field(() => Int, { nullable: true, description: "Total response time of the text model, in milliseconds; null while the turn runs." })
  @Property({ type: "integer", nullable: true })
  latencyMs: number | null = null

  @Field(() => TurnOutcomeEnum, { nullable: true, description: "Result of the turn; null while the turn runs." })
  @Property({ type: "text", nullable: true })
  outcome: TurnOutcome | null = null

  @Field(() => DateTime, { description: "Start time." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  startedAt: Date = clock.now()

  @Field(() => DateTime, { nullable: true, description: "End time; null while the turn runs." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endedAt: Date | null = null
}

/** Records the outcome and the end of a turn; an outcome that is already recorded stays. */
export async function concludeTurn(em: EntityManager, id: string, outcome: TurnOutcome): Promise<void> {
  await em.nativeUpdate(AssistantTurn, { id, outcome: null }, { outcome, endedAt: clock.now() })
}
