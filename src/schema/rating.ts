import { Field, Int, ObjectType } from "type-graphql"
import { DateTime, UUID } from "../entities/kit/scalars.js"

@ObjectType({ description: "A customer's rating of a stretch." })
export class StretchRating {
  @Field(() => UUID, { description: "ID of the stretch." })
  stretchId!: string

  @Field(() => Int, { description: "The rating, 1 to 5." })
  rating!: number

  @Field(() => String, { nullable: true, description: "What the customer wrote with it." })
  text!: string | null
}

@ObjectType({ description: "What a customer is asked after a stretch of the chat, and the answer." })
export class RatingRequest {
  @Field(() => UUID, { description: "ID of the stretch." })
  stretchId!: string

  @Field(() => String, { description: "The question of the channel connection." })
  question!: string

  @Field(() => DateTime, { description: "Time of the request; it can be answered for 72 hours." })
  askedAt!: string

  @Field(() => Int, { nullable: true, description: "The rating that was given, 1 to 5." })
  rating!: number | null

  @Field(() => String, { nullable: true, description: "What the customer wrote with it." })
  text!: string | null
}
