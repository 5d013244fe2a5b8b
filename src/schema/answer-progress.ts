import { Field, ObjectType } from "type-graphql"
import { UUID } from "../entities/kit/scalars.js"

@ObjectType({ description: "The text of an answer while an assistant writes it; it is not stored." })
export class AnswerProgress {
  @Field(() => UUID, { description: "ID of the turn. A new ID means a new answer, which replaces the text of the previous turn." })
  turnId!: string

  @Field(() => String, { description: "The whole text so far, not only the addition; a very long text is truncated at the end." })
  text!: string

  @Field(() => Boolean, {
    description:
      "Whether the turn has ended. The text is then a message of the chat; it is empty when the turn had no answer or the answer was dropped.",
  })
  done!: boolean
}
