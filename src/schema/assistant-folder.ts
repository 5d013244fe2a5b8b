import { Field, InputType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { Trimmed } from "../entities/kit/scalars.js"
import { InCompany } from "./kit/input.js"
import { schemaLimits } from "./limits.js"

export const assistantFolderReadModel = readModel("AssistantFolder")

@InputType({ description: "The assistant folder to create." })
export class CreateAssistantFolderInput extends InCompany {
  @Field(() => Trimmed({ max: schemaLimits.assistantFolderName }), { description: "Name of the folder." })
  name!: string
}

@InputType({ description: "The fields of an assistant folder to change." })
export class UpdateAssistantFolderInput {
  @Field(() => Trimmed({ max: schemaLimits.assistantFolderName }), { nullable: true, description: "Name of the folder." })
  name?: string | null
}
