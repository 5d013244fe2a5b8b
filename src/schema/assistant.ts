import { Field, Float, InputType, Int, ObjectType } from "type-graphql"
import { computed, readModel } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { completeGuardrails } from "../entities/kit/guardrail-settings.js"
import { PhoneNumber, Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { assistantMcpTools } from "./assistant-mcp-tool.js"
import { InCompany } from "./kit/input.js"
import { pageOf } from "./kit/page.js"
import { schemaLimits } from "./limits.js"

export const assistantReadModel = readModel("Assistant", {
  mcpTools: assistantMcpTools,
  guardrails: computed(["guardrailSettings"], ({ guardrailSettings }) => completeGuardrails(guardrailSettings ?? null)),
})
export const AssistantPage = pageOf(Assistant, "assistants")

@ObjectType({ description: "A text model that can generate the answers of assistants." })
export class TextModel {
  @Field(() => UUID, { description: "Unique ID; it does not change when the server restarts." })
  id!: string

  @Field(() => String, { description: "Name of the text model." })
  name!: string

  @Field(() => String, { description: "Provider of the text model." })
  provider!: string
}

@InputType({ description: "Voice settings of an assistant. They replace the previous settings as a whole." })
export class VaRegistrationInput {
  @Field(() => Trimmed({ max: schemaLimits.voiceName }), { description: "Name of the voice provider that runs the voice agent." })
  provider!: string

  @Field(() => Trimmed({ max: schemaLimits.voiceName }), {
    nullable: true,
    description: "ID of the voice at the provider. Default: the provider's default.",
  })
  voiceId?: string | null

  @Field(() => PhoneNumber, { nullable: true, description: "Telephone number of the assistant." })
  phoneNumber?: string | null

  @Field(() => Verbatim(schemaLimits.voiceFirstMessage), {
    nullable: true,
    description: "First sentence of a call. Default: the greeting of the assistant.",
  })
  firstMessage?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether the customer can interrupt the assistant. Default: true." })
  interruptible?: boolean | null

  @Field(() => Int, { nullable: true, description: "Silence in seconds after which the assistant ends the call, 1 to 600. Default: 30." })
  silenceTimeoutSeconds?: number | null

  @Field(() => Int, { nullable: true, description: "Maximum duration of a call in seconds, 1 to 14400. Default: 600." })
  maxDurationSeconds?: number | null
}

@InputType()
export abstract class AssistantFields {
  @Field(() => UUID, { nullable: true, description: "ID of the assistant folder; null means no folder." })
  folderId?: string | null

  @Field(() => Verbatim(schemaLimits.assistantPrompt), { nullable: true, description: "Instructions for the text model." })
  prompt?: string | null

  @Field(() => Verbatim(schemaLimits.assistantGreeting), { nullable: true, description: "Greeting for customers." })
  greeting?: string | null

  @Field(() => Verbatim(entityLimits.messageText), {
    nullable: true,
    description:
      "What customers are told when the assistant hands a chat over and has written nothing, as a message of the assistant. Null and an empty text mean nothing.",
  })
  handOffMessage?: string | null

  @Field(() => Trimmed({ max: schemaLimits.languageTag }), { nullable: true, description: "Language of the assistant, as a BCP 47 tag." })
  language?: string | null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the text model that generates the answers. Default for a new assistant: the first of textModels.",
  })
  textModelId?: string | null

  @Field(() => Float, { nullable: true, description: "Sampling temperature, 0 to 2; null means the default of the text model." })
  temperature?: number | null

  @Field(() => [Trimmed({ max: entityLimits.chatTagName })], {
    nullable: true,
    description: "Names of chat tags that the assistant must not set.",
  })
  excludedTags?: string[] | null

  @Field(() => Boolean, { nullable: true, description: "Whether the assistant is a draft variant; a draft cannot be assigned to a chat." })
  isDraft?: boolean | null

  @Field(() => UUID, { nullable: true, description: "ID of the assistant of which this draft is a variant; requires isDraft: true." })
  draftOfId?: string | null

  @Field(() => VaRegistrationInput, {
    nullable: true,
    description: "Voice settings; the voice agent is created or updated in the background.",
  })
  vaRegistration?: VaRegistrationInput | null
}

@InputType({ description: "The assistant to create." })
export class CreateAssistantInput extends AssistantFields implements InCompany {
  @Field(() => UUID, {
    nullable: true,
    description: "ID of the company. Default: the company of the access token, or the only company of the user.",
  })
  companyId?: string | null

  @Field(() => Trimmed({ max: entityLimits.assistantName }), { description: "Name of the assistant." })
  name!: string
}

@InputType({ description: "The fields of an assistant to change." })
export class UpdateAssistantInput extends AssistantFields {
  @Field(() => Trimmed({ max: entityLimits.assistantName }), { nullable: true, description: "Name of the assistant." })
  name?: string | null
}

@InputType({ description: "The fields in which the copy differs from the source." })
export class CopyAssistantInput {
  @Field(() => Trimmed({ max: entityLimits.assistantName }), {
    nullable: true,
    description: "Name of the copy. Default: the name of the source, followed by (copy).",
  })
  name?: string | null

  @Field(() => VaRegistrationInput, {
    nullable: true,
    description: "Voice settings of the copy; null means none. Default: the voice settings of the source.",
  })
  vaRegistration?: VaRegistrationInput | null
}

@ObjectType({ description: "The result of the deletion of an assistant." })
export class DeleteAssistantResult {
  @Field(() => UUID, { description: "ID of the assistant." })
  id!: string

  @Field(() => Boolean, { description: "Whether the assistant has been deleted." })
  deleted!: boolean

  @Field(() => Boolean, { description: "Whether the assistant will be deleted in the background, after its voice agent has been removed." })
  terminating!: boolean
}
