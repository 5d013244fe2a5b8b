import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { Trimmed } from "../entities/kit/scalars.js"
import { InCompany } from "./kit/input.js"
import { schemaLimits } from "./limits.js"

export const assistantFolderReadModel = readModel("AssistantFolder")

@InputType({ description: "A new assistant folder." })
export class CreateAssistantFolderInput extends InCompany {
  @Field(() => Trimmed({ max: schemaLimits.assistantFolderName }), { description: "Its name." })
  name!: string
}

@InputType({ description: "What changes about an assistant folder." })
export class UpdateAssistantFolderInput {
  @Field(() => Trimmed({ max: schemaLimits.assistantFolderName }), { nullable: true, description: "Its name." })
  name?: string
}
