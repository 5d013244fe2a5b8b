import { Field, Float, InputType, Int, ObjectType } from "type-graphql"
import { readModel } from "../database/read-model.js"
import { Assistant } from "../entities/assistant.js"
import { PhoneNumber, Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { InCompany } from "./kit/input.js"
import { pageOf } from "./kit/page.js"
import { schemaLimits } from "./limits.js"

export const assistantReadModel = readModel("Assistant")
export const AssistantPage = pageOf(Assistant, "assistants")

@ObjectType({ description: "A text model that assistants can answer with." })
export class TextModel {
  @Field(() => UUID, { description: "Its id, the same on every start." })
  id!: string

  @Field(() => String, { description: "Its name." })
  name!: string

  @Field(() => String, { description: "Who runs it." })
  provider!: string
}

@InputType({ description: "How an assistant is to speak on the phone; given anew, it replaces what was there." })
export class VaRegistrationInput {
  @Field(() => Trimmed({ max: schemaLimits.voiceName }), { description: "The voice provider that its agent is to live at." })
  provider!: string

  @Field(() => Trimmed({ max: schemaLimits.voiceName }), {
    nullable: true,
    description: "The provider's voice; the provider chooses when absent.",
  })
  voiceId?: string | null

  @Field(() => PhoneNumber, { nullable: true, description: "The number that it is reached at." })
  phoneNumber?: string | null

  @Field(() => Verbatim(schemaLimits.voiceFirstMessage), { nullable: true, description: "What it says first; its greeting when absent." })
  firstMessage?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether the customer can interrupt it; true when absent." })
  interruptible?: boolean | null

  @Field(() => Int, { nullable: true, description: "After so many seconds without a word it hangs up, 1 to 600; 30 when absent." })
  silenceTimeoutSeconds?: number | null

  @Field(() => Int, { nullable: true, description: "After so many seconds it ends a call, 1 to 14,400; 600 when absent." })
  maxDurationSeconds?: number | null
}

@InputType()
export abstract class AssistantFields {
  @Field(() => UUID, { nullable: true, description: "The folder it is kept in." })
  folderId?: string | null

  @Field(() => Verbatim(schemaLimits.assistantPrompt), { nullable: true, description: "What it is told to be and do." })
  prompt?: string | null

  @Field(() => Verbatim(schemaLimits.assistantGreeting), { nullable: true, description: "How it greets a customer." })
  greeting?: string | null

  @Field(() => Trimmed({ max: schemaLimits.languageTag }), { nullable: true, description: "Its language, a BCP 47 tag." })
  language?: string | null

  @Field(() => UUID, { nullable: true, description: "The text model that answers for it; the first one when absent." })
  textModelId?: string | null

  @Field(() => Float, { nullable: true, description: "Sampling temperature, 0 to 2." })
  temperature?: number | null

  @Field(() => [Trimmed({ max: entityLimits.chatTagName })], { nullable: true, description: "Names of chat tags it must not suggest." })
  excludedTags?: string[] | null

  @Field(() => Boolean, { nullable: true, description: "Whether it is a draft variant." })
  isDraft?: boolean | null

  @Field(() => UUID, { nullable: true, description: "The assistant it is a variant of; needs isDraft: true." })
  draftOfId?: string | null

  @Field(() => VaRegistrationInput, { nullable: true, description: "How it is to speak; an agent is made, or follows, in the background." })
  vaRegistration?: VaRegistrationInput | null
}

@InputType({ description: "A new assistant." })
export class CreateAssistantInput extends AssistantFields implements InCompany {
  @Field(() => UUID, { nullable: true, description: "The company; the token's, or the user's only one, when absent." })
  companyId?: string | null

  @Field(() => Trimmed({ max: entityLimits.assistantName }), { description: "Its name." })
  name!: string
}

@InputType({ description: "What changes about an assistant." })
export class UpdateAssistantInput extends AssistantFields {
  @Field(() => Trimmed({ max: entityLimits.assistantName }), { nullable: true, description: "Its name." })
  name?: string | null
}

@InputType({ description: "What is to be different about the copy of an assistant." })
export class CopyAssistantInput {
  @Field(() => Trimmed({ max: entityLimits.assistantName }), {
    nullable: true,
    description: "Its name; that of the source with (copy) when absent.",
  })
  name?: string | null

  @Field(() => VaRegistrationInput, { nullable: true, description: "How it is to speak; as the source when absent, not at all when null." })
  vaRegistration?: VaRegistrationInput | null
}

@ObjectType({ description: "That an assistant was deleted, or will be once its voice agent is torn down." })
export class DeleteAssistantResult {
  @Field(() => UUID, { description: "What was deleted." })
  id!: string

  @Field(() => Boolean, { description: "Whether it is gone." })
  deleted!: boolean

  @Field(() => Boolean, { description: "Whether its voice agent is torn down first; it disappears after that." })
  terminating!: boolean
}
