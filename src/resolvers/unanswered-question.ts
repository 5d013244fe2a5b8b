import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { closeQuestion, reopenQuestion, unansweredQuestions } from "../knowledge/unanswered.js"
import { CompanyArg } from "../schema/kit/arguments.js"
import {
  ClosedQuestion,
  type QuestionState,
  ReopenedQuestion,
  UnansweredQuestionConnection,
  UnansweredQuestionStateEnum,
} from "../schema/unanswered-question.js"

@Resolver()
export class UnansweredQuestionResolver {
  @Access("company")
  @Query(() => UnansweredQuestionConnection, {
    description:
      "Questions to which the search of the knowledge found nothing, grouped by meaning, those that were asked most often first.",
  })
  unansweredQuestions(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @CompanyArg() companyId?: string,
    @Arg("assistantId", () => UUID, { nullable: true, description: "Returns only questions to this assistant." }) assistantId?: string,
    @Arg("from", () => DateTime, {
      nullable: true,
      description: "Counts only questions that were asked at this time or later. Default: 28 days before the end.",
    })
    from?: Date,
    @Arg("to", () => DateTime, { nullable: true, description: "Counts only questions that were asked before this time. Default: now." })
    to?: Date,
    @Arg("state", () => UnansweredQuestionStateEnum, { nullable: true, description: "Which of them are returned. Default: OPEN." })
    state?: QuestionState,
    @Arg("first", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) first?: number,
    @Arg("after", () => String, { nullable: true, description: "Cursor of the last item of the previous page." }) after?: string,
  ) {
    return unansweredQuestions(context, { companyId, assistantId, from, to, state, first, after }, selectionOf(info))
  }

  @Access("company")
  @Mutation(() => ClosedQuestion, {
    description: "Takes an unanswered question off the list. The same question, asked later, is listed again.",
  })
  closeUnansweredQuestion(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID, { description: "ID of the unanswered question." }) id: string,
  ) {
    return closeQuestion(context, id)
  }

  @Access("company")
  @Mutation(() => ReopenedQuestion, {
    description: "Puts an unanswered question that was closed back on the list, as often as it was asked.",
  })
  reopenUnansweredQuestion(
    @Ctx() context: RequestContext,
    @Arg("id", () => UUID, { description: "ID of the unanswered question." }) id: string,
  ) {
    return reopenQuestion(context, id)
  }
}
