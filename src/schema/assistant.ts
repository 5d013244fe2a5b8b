import { Field, Float, InputType, ObjectType } from "type-graphql"
import { source } from "../database/source.js"
import { Assistant } from "../entities/assistant.js"
import { Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { BadUserInput } from "../errors.js"
import { limits } from "../limits.js"
import type { TextModel as TextModelPort } from "../ports/text-model.js"
import { InCompany } from "./kit/input.js"
import { pageOf } from "./kit/page.js"

export const assistantSource = source("Assistant")
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

@InputType()
abstract class AssistantFields {
  @Field(() => UUID, { nullable: true, description: "The folder it is kept in." })
  folderId?: string | null

  @Field(() => Verbatim(limits.assistantPrompt), { nullable: true, description: "What it is told to be and do." })
  prompt?: string | null

  @Field(() => Verbatim(limits.assistantGreeting), { nullable: true, description: "How it greets a customer." })
  greeting?: string | null

  @Field(() => Trimmed({ max: 35 }), { nullable: true, description: "Its language, a BCP 47 tag." })
  language?: string | null

  @Field(() => UUID, { nullable: true, description: "The text model that answers for it; the first one when absent." })
  textModelId?: string | null

  @Field(() => Float, { nullable: true, description: "Sampling temperature, 0 to 2." })
  temperature?: number | null

  @Field(() => [Trimmed({ max: limits.chatTagName })], { nullable: true, description: "Names of chat tags it must not suggest." })
  excludedTags?: string[] | null

  @Field(() => Boolean, { nullable: true, description: "Whether it is a draft variant." })
  isDraft?: boolean | null

  @Field(() => UUID, { nullable: true, description: "The assistant it is a variant of; needs isDraft: true." })
  draftOfId?: string | null
}

@InputType({ description: "A new assistant." })
export class CreateAssistantInput extends AssistantFields implements InCompany {
  @Field(() => UUID, { nullable: true, description: "The company; the token's, or the user's only one, when absent." })
  companyId?: string | null

  @Field(() => Trimmed({ max: limits.assistantName }), { description: "Its name." })
  name!: string
}

@InputType({ description: "What changes about an assistant." })
export class UpdateAssistantInput extends AssistantFields {
  @Field(() => Trimmed({ max: limits.assistantName }), { nullable: true, description: "Its name." })
  name?: string | null
}

/** Checks what no scalar can: the language, the temperature and the text model. */
export function checkAssistant(input: AssistantFields, models: TextModelPort[]) {
  const details = []
  if (input.language && !isLanguage(input.language))
    details.push({ path: "language", message: "must be a BCP 47 language tag, such as en or pt-BR" })
  if (input.temperature != null && (input.temperature < 0 || input.temperature > limits.temperatureMax))
    details.push({ path: "temperature", message: `must be 0 to ${limits.temperatureMax}` })
  if (input.textModelId && !models.some((model) => model.id === input.textModelId))
    details.push({ path: "textModelId", message: "names no text model of this server; the query textModels lists them" })
  if (details.length > 0) throw new BadUserInput(details.map((detail) => `${detail.path} ${detail.message}`).join("; "), details)
}

function isLanguage(tag: string) {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
