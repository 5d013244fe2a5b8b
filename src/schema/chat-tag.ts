import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { InCompany } from "./kit/input.js"

export const chatTagReadModel = readModel("ChatTag")

@InputType({ description: "The chat tag to create." })
export class CreateChatTagInput extends InCompany {
  @Field(() => Trimmed({ max: entityLimits.chatTagName }), { description: "Name of the tag, unique in the company regardless of case." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Color of the tag. Default: #808080 (gray)." })
  color?: string
}

@InputType({ description: "The fields of a chat tag to change." })
export class UpdateChatTagInput {
  @Field(() => Trimmed({ max: entityLimits.chatTagName }), {
    nullable: true,
    description: "Name of the tag, unique in the company regardless of case.",
  })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Color of the tag." })
  color?: string | null
}
