import { Field, ObjectType } from "type-graphql"
import { UUID } from "../entities/kit/scalars.js"

@ObjectType({ description: "How far a running answer of an assistant has come; never stored." })
export class AnswerProgress {
  @Field(() => UUID, { description: "The turn; another one begins anew." })
  turnId!: string

  @Field(() => String, { description: "What it says so far, each time the whole of it; of a very long one the beginning." })
  text!: string

  @Field(() => Boolean, {
    description:
      "Whether the turn is over: its text is a message of the chat by now, or empty because nothing was said, or it was dropped.",
  })
  done!: boolean
}
