import { Field, InputType } from "type-graphql"
import { source } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { limits } from "../limits.js"
import { InCompany } from "./kit/input.js"

export const chatFolderSource = source("ChatFolder")

@InputType({ description: "A new chat folder." })
export class CreateChatFolderInput extends InCompany {
  @Field(() => Trimmed({ max: limits.chatFolderName }), { description: "Its name." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Its color; gray when absent." })
  color?: string
}

@InputType({ description: "What changes about a chat folder." })
export class UpdateChatFolderInput {
  @Field(() => Trimmed({ max: limits.chatFolderName }), { nullable: true, description: "Its name." })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Its color." })
  color?: string | null
}
