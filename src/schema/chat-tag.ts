import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { InCompany } from "./kit/input.js"

export const chatTagReadModel = readModel("ChatTag")

@InputType({ description: "A new chat tag." })
export class CreateChatTagInput extends InCompany {
  @Field(() => Trimmed({ max: entityLimits.chatTagName }), { description: "Its name." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Its color; gray when absent." })
  color?: string
}

@InputType({ description: "What changes about a chat tag." })
export class UpdateChatTagInput {
  @Field(() => Trimmed({ max: entityLimits.chatTagName }), { nullable: true, description: "Its name." })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Its color." })
  color?: string | null
}
