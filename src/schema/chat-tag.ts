import { Field, InputType } from "type-graphql"
import { source } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { limits } from "../limits.js"
import { InCompany } from "./kit/input.js"

export const chatTagSource = source("ChatTag")

@InputType({ description: "A new chat tag." })
export class CreateChatTagInput extends InCompany {
  @Field(() => Trimmed({ max: limits.chatTagName }), { description: "Its name." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Its color; gray when absent." })
  color?: string
}

@InputType({ description: "What changes about a chat tag." })
export class UpdateChatTagInput {
  @Field(() => Trimmed({ max: limits.chatTagName }), { nullable: true, description: "Its name." })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Its color." })
  color?: string | null
}
