import { Field, ObjectType } from "type-graphql"
import { DateTime, UUID } from "./scalars.js"

@ObjectType({ description: "An internal comment on a chat; it is never sent to the customer." })
export class ChatComment {
  @Field(() => UUID, { description: "Unique ID." })
  id!: string

  @Field(() => String, { description: "Text of the comment." })
  text!: string

  @Field(() => UUID, { nullable: true, description: "ID of the user who wrote the comment; null when an access token was used." })
  authorId!: string | null

  @Field(() => DateTime, { description: "Time of creation." })
  createdAt!: string
}

@ObjectType({ description: "Labels, internal comments and origin of a chat." })
export class ChatMeta {
  @Field(() => [String], { description: "Names of the tags of the chat." })
  labels!: string[]

  @Field(() => [ChatComment], { description: "Internal comments, oldest first." })
  comments!: ChatComment[]

  @Field(() => String, { nullable: true, description: "Channel from which an aggregator received the chat." })
  sourceChannel!: string | null
}
