import { Entity, Filter, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { Messenger } from "./channel.js"
import type { HandOffReason } from "./kit/chat-words.js"
import { ofCompanies } from "./kit/of-companies.js"
import type { StretchOutcome } from "./kit/stretch-words.js"

/** By what kept sums are summed, besides the day; `ALL`: by nothing. */
export const outcomeDimensions = ["ALL", "ASSISTANT", "MESSENGER", "PERSON", "HANDOFF_REASON", "OUTCOME"] as const
export type OutcomeDimension = (typeof outcomeDimensions)[number]

/** A row of the sums of a day by one dimension; columns of other dimensions are null. Most reports need no more, and these rows are few. */
abstract class OutcomeDimensionCell {
  @PrimaryKey({ type: "uuid" })
  companyId!: string

  @PrimaryKey({ type: "text" })
  timeZone!: string

  @PrimaryKey({ type: "text" })
  dimension!: OutcomeDimension

  @PrimaryKey({ type: "text", columnType: "date" })
  day!: string

  /** A number of the row in its day and dimension. */
  @PrimaryKey({ type: "integer" })
  place!: number

  @Property({ type: "uuid", nullable: true })
  assistantId!: string | null

  @Property({ type: "text", nullable: true })
  messenger!: Messenger | null

  @Property({ type: "uuid", nullable: true })
  personId!: string | null

  @Property({ type: "text", nullable: true })
  handOffReason!: HandOffReason | null

  @Property({ type: "text", nullable: true })
  outcome!: StretchOutcome | null

  /** Number of stretches. */
  @Property({ type: "integer" })
  count!: number
}

/** Sums over `outcome_sum` of a day by one dimension, and always by outcome, reason of the hand-off and whether the customer wrote again. */
@Entity()
@Filter(ofCompanies)
export class OutcomeDimensionSum extends OutcomeDimensionCell {
  @Property({ type: "boolean" })
  reopened!: boolean

  @Property({ type: "bigint" })
  inputTokens!: string

  @Property({ type: "bigint" })
  outputTokens!: string

  /** Sum of the ratings. */
  @Property({ type: "integer" })
  rating!: number

  @Property({ type: "integer" })
  ratings!: number
}

/** How many stretches of a day had the same time until the first answer, rounded, by one dimension. */
@Entity()
@Filter(ofCompanies)
export class OutcomeDimensionTime extends OutcomeDimensionCell {
  /** Whether a person answered; otherwise AI did. */
  @Property({ type: "boolean" })
  isOfPerson!: boolean

  @Property({ type: "integer" })
  ms!: number
}
