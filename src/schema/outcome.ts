import { Field, Float, Int, ObjectType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { DateTime } from "../entities/kit/scalars.js"
import { words } from "../entities/kit/words.js"

export const outcomeDayReadModel = readModel("OutcomeDay")
export const outcomeSumReadModel = readModel("OutcomeSum")
export const outcomeMonthReadModel = readModel("OutcomeMonth")
export const outcomeMonthSumReadModel = readModel("OutcomeMonthSum")
export const outcomeDimensionSumReadModel = readModel("OutcomeDimensionSum")
export const outcomeDimensionTimeReadModel = readModel("OutcomeDimensionTime")

/** By what a report groups stretches (contract, section 12). */
export const OutcomeGroupByEnum = words("OutcomeGroupBy", "By what a report groups stretches.", {
  DAY: "By the day on which they started.",
  WEEK: "By the week in which they started, from Monday.",
  ASSISTANT: "By assistant.",
  MESSENGER: "By channel.",
  PERSON: "By the first person who took the chat over or wrote in it.",
  HANDOFF_REASON: "By the reason why AI stopped answering.",
})
export type GroupBy = (typeof OutcomeGroupByEnum)[string]

@ObjectType({ description: "Percentiles of a time in milliseconds, by nearest rank; null without a value." })
export class Percentiles {
  @Field(() => Int, { nullable: true, description: "Half of the values are at most this." })
  p50!: number | null

  @Field(() => Int, { nullable: true, description: "Of 100 values 95 are at most this." })
  p95!: number | null
}

@ObjectType({ description: "Percentiles of the time until the first answer, of AI and of people." })
export class AnswerPercentiles {
  @Field(() => Percentiles, { description: "Of AI." })
  ai!: Percentiles

  @Field(() => Percentiles, { description: "Of people." })
  people!: Percentiles
}

@ObjectType({ description: "Numbers over ended stretches." })
export class OutcomeNumbers {
  @Field(() => Int, { description: "Number of stretches." })
  stretches!: number

  @Field(() => Int, { description: "Stretches in which only AI answered." })
  aiAlone!: number

  @Field(() => Int, { description: "Stretches in which AI and a person answered." })
  aiThenPerson!: number

  @Field(() => Int, { description: "Stretches in which only people answered." })
  personAlone!: number

  @Field(() => Int, { description: "Stretches in which nobody answered." })
  unanswered!: number

  @Field(() => Int, { description: "Stretches in which only AI answered, and after which the customer wrote again within 72 hours." })
  reopened!: number

  @Field(() => Int, { description: "Stretches in which AI stopped answering." })
  handedOff!: number

  @Field(() => Float, {
    nullable: true,
    description: "Share of the answered stretches in which only AI answered, 0 to 1; null without any.",
  })
  containment!: number | null

  @Field(() => Float, { nullable: true, description: "The same share, without those that were reopened." })
  durableContainment!: number | null

  @Field(() => Float, { nullable: true, description: "Share of the stretches in which AI stopped answering, 0 to 1; null without any." })
  handOffRate!: number | null

  @Field(() => AnswerPercentiles, {
    description: "Time until the first answer. Where the server keeps sums, as for many stretches, rounded to steps of some 10 percent.",
  })
  firstAnswerMs!: AnswerPercentiles

  @Field(() => Int, { description: "Number of ratings." })
  ratings!: number

  @Field(() => Float, { nullable: true, description: "Mean rating, 1 to 5; null without one." })
  rating!: number | null

  @Field(() => Float, { description: "Number of input tokens that the text models reported." })
  inputTokens!: number

  @Field(() => Float, { description: "Number of output tokens that the text models reported." })
  outputTokens!: number
}

@ObjectType({ description: "Numbers of a period and of the one before, which is as long." })
export class OutcomeComparison {
  @Field(() => OutcomeNumbers, { description: "Numbers of the period." })
  current!: OutcomeNumbers

  @Field(() => OutcomeNumbers, { description: "Numbers of the period before." })
  before!: OutcomeNumbers
}

@ObjectType({ description: "The numbers of a group; of a day or a week, those before are of the day or week at the same place." })
export class OutcomeGroup extends OutcomeComparison {
  @Field(() => String, {
    nullable: true,
    description: "The day or the Monday (YYYY-MM-DD), the ID, the channel or the reason; null for stretches without one.",
  })
  key!: string | null

  @Field(() => String, { nullable: true, description: "Name of the assistant or of the person; null for others, and when it is deleted." })
  name!: string | null

  @Field(() => DateTime, { description: "Begin of the group in the period: of the day, of the week, or of the period itself." })
  from!: Date

  @Field(() => DateTime, { description: "End of it, which it does not include." })
  to!: Date
}

@ObjectType({ description: "A report over stretches that started in a period and have ended." })
export class Outcomes {
  @Field(() => DateTime, { description: "Begin of the period." })
  from!: Date

  @Field(() => DateTime, { description: "End of the period, which it does not include." })
  to!: Date

  @Field(() => DateTime, { description: "Begin of the period before, which ends where this one begins." })
  before!: Date

  @Field(() => String, { description: "Time zone of days and weeks." })
  timeZone!: string

  @Field(() => OutcomeGroupByEnum, { description: "By what the stretches are grouped." })
  by!: GroupBy

  @Field(() => OutcomeComparison, { description: "Numbers of the whole period." })
  total!: OutcomeComparison

  @Field(() => [OutcomeGroup], {
    description: "The groups: every day or week in its order, others by their number of stretches, with at least one in either period.",
  })
  groups!: OutcomeGroup[]
}
