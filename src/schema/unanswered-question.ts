import { Field, Int, ObjectType } from "type-graphql"
import { belongsTo, readModel } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { words } from "../entities/kit/words.js"
import { AskedQuestion } from "../entities/question.js"
import { chatReadModel } from "./chat.js"
import { connectionOf } from "./kit/page.js"

export const askedQuestionReadModel = readModel("AskedQuestion", { chat: belongsTo(() => chatReadModel, "chatId") })
export const questionGroupReadModel = readModel("QuestionGroup")

export const UnansweredQuestionStateEnum = words("UnansweredQuestionState", "Whether an unanswered question is on the list.", {
  OPEN: "One of its questions in the period is not closed; those that are not are counted.",
  CLOSED: "All of its questions in the period are closed.",
  ALL: "Both; all of its questions in the period are counted.",
})
export type QuestionState = (typeof UnansweredQuestionStateEnum)[string]

@ObjectType({
  description: "Questions of customers that ask for the same, and to which the search of the assistant's knowledge found nothing.",
})
export class UnansweredQuestion {
  @Field(() => UUID, { description: "Unique ID; it changes once, soon after a first question, when the question is compared with others." })
  id!: string

  @Field(() => UUID, { description: "ID of the company that owns this object." })
  companyId!: string

  @Field(() => UUID, { description: "ID of the assistant." })
  assistantId!: string

  @Field(() => String, { description: "The first of the questions." })
  question!: string

  @Field(() => Int, { description: "How often it was asked in the period." })
  count!: number

  @Field(() => DateTime, { description: "Time of the first question in the period." })
  firstAskedAt!: string

  @Field(() => DateTime, { description: "Time of the last question in the period." })
  lastAskedAt!: string

  @Field(() => DateTime, {
    nullable: true,
    description: "When it was taken off the list; null while one of the counted questions is open.",
  })
  closedAt!: string | null

  @Field(() => [AskedQuestion], { description: "The last questions, newest first, at most 20." })
  asked!: AskedQuestion[]

  @Field(() => Assistant, { description: "The assistant." })
  assistant?: Assistant
}

export const UnansweredQuestionConnection = connectionOf(UnansweredQuestion, {
  one: "An unanswered question",
  many: "unanswered questions",
})

@ObjectType({ description: "Result of closing an unanswered question." })
export class ClosedQuestion {
  @Field(() => Int, { description: "Number of questions that were closed; 0 when they were closed before." })
  closed!: number
}

@ObjectType({ description: "Result of putting an unanswered question back on the list." })
export class ReopenedQuestion {
  @Field(() => Int, { description: "Number of questions that were opened again; 0 when none was closed." })
  reopened!: number
}
