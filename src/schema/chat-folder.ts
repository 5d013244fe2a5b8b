import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { HexColor, Trimmed } from "../entities/kit/scalars.js"
import { InCompany } from "./kit/input.js"
import { schemaLimits } from "./limits.js"

export const chatFolderReadModel = readModel("ChatFolder")

@InputType({ description: "The chat folder to create." })
export class CreateChatFolderInput extends InCompany {
  @Field(() => Trimmed({ max: schemaLimits.chatFolderName }), { description: "Name of the folder." })
  name!: string

  @Field(() => HexColor, { nullable: true, description: "Color of the folder. Default: #808080 (gray)." })
  color?: string
}

@InputType({ description: "The fields of a chat folder to change." })
export class UpdateChatFolderInput {
  @Field(() => Trimmed({ max: schemaLimits.chatFolderName }), { nullable: true, description: "Name of the folder." })
  name?: string | null

  @Field(() => HexColor, { nullable: true, description: "Color of the folder." })
  color?: string | null
}
