import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import type { Messenger } from "./channel.js"
import type { HandOffReason } from "./kit/chat-words.js"
import { ofCompanies } from "./kit/of-companies.js"
import { CompanyOwned } from "./kit/row.js"
import type { StretchOutcome } from "./kit/stretch-words.js"

/** A time zone in which reports over many stretches of a company are asked for, so that their sums are kept. */
@Entity()
@Unique({ properties: ["companyId", "timeZone"] })
export class OutcomeZone extends CompanyOwned {
  /** Name in the IANA database. */
  @Property({ type: "text" })
  timeZone!: string

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  askedAt!: Date
}

/** A span of a time zone whose sums are kept. */
abstract class KeptSpan {
  @PrimaryKey({ type: "uuid" })
  companyId!: string

  @PrimaryKey({ type: "text" })
  timeZone!: string

  /** Its first day. */
  @PrimaryKey({ type: "text", columnType: "date" })
  day!: string

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  fromAt!: Date

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  toAt!: Date
}

/**
 * A day of a time zone whose sums are kept. A change of an ended stretch that started on this day deletes this row in the same transaction
 * (a trigger); its sums are valid only with it.
 */
@Entity()
@Filter(ofCompanies)
@Index({ properties: ["companyId", "fromAt"] })
export class OutcomeDay extends KeptSpan {
  /** Whether the sums by one dimension are kept too; a version of the server that lacks them keeps only the others. */
  @Property({ type: "boolean", default: false })
  hasDimensions!: boolean
}

/** A month of a time zone whose sums are kept, of days that are all kept; what deletes one of these days deletes it too. */
@Entity()
@Filter(ofCompanies)
export class OutcomeMonth extends KeptSpan {}

/** What the stretches that are counted together have in common; the columns are named as in `stretch`. */
abstract class OutcomeCell {
  @PrimaryKey({ type: "uuid" })
  companyId!: string

  @PrimaryKey({ type: "text" })
  timeZone!: string

  @PrimaryKey({ type: "text", columnType: "date" })
  day!: string

  /** A number of the row in its day. */
  @PrimaryKey({ type: "integer" })
  place!: number

  @Property({ type: "uuid", nullable: true })
  assistantId!: string | null

  @Property({ type: "text" })
  messenger!: Messenger

  @Property({ type: "uuid", nullable: true })
  personId!: string | null

  @Property({ type: "text", nullable: true })
  handOffReason!: HandOffReason | null

  @Property({ type: "text" })
  outcome!: StretchOutcome

  @Property({ type: "boolean" })
  reopened!: boolean

  /** Number of stretches. */
  @Property({ type: "integer" })
  count!: number
}

/** Sums over the stretches that are counted together. */
abstract class OutcomeSums extends OutcomeCell {
  @Property({ type: "bigint" })
  inputTokens!: string

  @Property({ type: "bigint" })
  outputTokens!: string

  /** Sum of the ratings. */
  @Property({ type: "integer" })
  rating!: number

  @Property({ type: "integer" })
  ratings!: number

  /** Times until the first answer of AI, rounded, in their order; null without one. */
  @Property({ type: "array", columnType: "int[]", nullable: true })
  aiMs!: number[] | null

  /** How many stretches have each of these times. */
  @Property({ type: "array", columnType: "int[]", nullable: true })
  aiCounts!: number[] | null

  /** Times until the first answer of people, likewise. */
  @Property({ type: "array", columnType: "int[]", nullable: true })
  peopleMs!: number[] | null

  @Property({ type: "array", columnType: "int[]", nullable: true })
  peopleCounts!: number[] | null
}

/** Sums over the ended stretches that started on a day. */
@Entity()
@Filter(ofCompanies)
export class OutcomeSum extends OutcomeSums {}

/** Sums over the ended stretches that started in the month that begins with `day`. */
@Entity()
@Filter(ofCompanies)
export class OutcomeMonthSum extends OutcomeSums {}

/** Times until the first answer as the version before keeps them; this one has them in `outcome_sum`, and only deletes these rows. */
@Entity()
@Filter(ofCompanies)
export class OutcomeTime extends OutcomeCell {
  /** Whether a person answered; otherwise AI did. */
  @Property({ type: "boolean" })
  isOfPerson!: boolean

  @Property({ type: "integer" })
  ms!: number
}
