import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { InCompany } from "./kit/input.js"
import { schemaLimits } from "./limits.js"

export const chatFolderReadModel = readModel("ChatFolder")

@InputType({ description: "A new chat folder." })
export class CreateChatFolderInput extends InCompany {
  @Field(() => Trimmed({ max: schemaLimits.chatFolderName }), { description: "Its name." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Its color; gray when absent." })
  color?: string
}

@InputType({ description: "What changes about a chat folder." })
export class UpdateChatFolderInput {
  @Field(() => Trimmed({ max: schemaLimits.chatFolderName }), { nullable: true, description: "Its name." })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Its color." })
  color?: string | null
}
