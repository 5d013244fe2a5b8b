import { Arg, Ctx, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { Channel } from "../entities/channel.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { rateStretch, ratingRequest, setRatingQuestion } from "../outcomes/rating.js"
import { IdArg } from "../schema/kit/arguments.js"
import { mustBeGiven } from "../schema/kit/input.js"
import { schemaLimits } from "../schema/limits.js"
import { RatingRequest, StretchRating } from "../schema/rating.js"

@Resolver()
export class RatingResolver {
  @Access("visitor")
  @Query(() => RatingRequest, {
    nullable: true,
    description:
      "What the customer of a chat is asked now about its last stretch, with the answer if it was given; null when nothing is asked.",
  })
  ratingRequest(@Ctx() context: RequestContext, @Arg("chatId", () => UUID, { description: "ID of the chat." }) chatId: string) {
    return ratingRequest(context, chatId)
  }

  @Access("visitor")
  @Mutation(() => StretchRating, {
    description:
      "Stores the customer's rating of an ended stretch, in place of an earlier one. A visitor rates the last stretch of the own chat.",
  })
  rateStretch(
    @Ctx() context: RequestContext,
    @IdArg("stretch") id: string,
    @Arg("rating", () => Int, { description: "The rating, 1 to 5; 5 is best." }) rating: number,
    @Arg("text", () => Trimmed({ min: 0, max: schemaLimits.ratingText }), {
      nullable: true,
      description: "What the customer wrote with it.",
    })
    text?: string | null,
  ) {
    return rateStretch(context, id, { rating, text })
  }

  @Access("company")
  @Mutation(() => Channel, {
    description:
      "Sets what customers of a channel connection are asked when a stretch has ended; null turns that off. Owners, admins and access tokens.",
  })
  setRatingQuestion(
    @Ctx() context: RequestContext,
    @Arg("channelId", () => UUID, { description: "ID of the channel connection." }) channelId: string,
    @Arg("question", () => Trimmed({ max: schemaLimits.ratingQuestion }), {
      nullable: true,
      description: "The question; the customer answers with a number from 1 to 5, 5 is best.",
    })
    question?: string | null,
  ) {
    mustBeGiven("question", question)
    return setRatingQuestion(context, channelId, question ?? null)
  }
}
