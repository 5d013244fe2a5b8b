import { Field, InputType } from "type-graphql"
import { source } from "../database/read-model.js"
import { Trimmed } from "../entities/kit/scalars.js"
import { limits } from "../limits.js"
import { InCompany } from "./kit/input.js"

export const assistantFolderSource = source("AssistantFolder")

@InputType({ description: "A new assistant folder." })
export class CreateAssistantFolderInput extends InCompany {
  @Field(() => Trimmed({ max: limits.assistantFolderName }), { description: "Its name." })
  name!: string
}

@InputType({ description: "What changes about an assistant folder." })
export class UpdateAssistantFolderInput {
  @Field(() => Trimmed({ max: limits.assistantFolderName }), { nullable: true, description: "Its name." })
  name?: string
}
