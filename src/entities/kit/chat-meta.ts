import { Field, ObjectType } from "type-graphql"
import { Timestamp, UUID } from "./scalars.js"

@ObjectType({ description: "An internal note on a chat; never sent to the customer." })
export class ChatComment {
  @Field(() => UUID, { description: "Its id." })
  id!: string

  @Field(() => String, { description: "What it says." })
  text!: string

  @Field(() => UUID, { nullable: true, description: "The user who wrote it; null under an access token." })
  authorId!: string | null

  @Field(() => Timestamp, { description: "When it was written." })
  createdAt!: string
}

@ObjectType({ description: "What is noted beside a chat." })
export class ChatMeta {
  @Field(() => [String], { description: "Names of the chat's tags." })
  labels!: string[]

  @Field(() => [ChatComment], { description: "Internal notes, oldest first." })
  comments!: ChatComment[]

  @Field(() => String, { nullable: true, description: "Origin channel of an aggregator's chat." })
  sourceChannel!: string | null
}
