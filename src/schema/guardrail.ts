import { Field, InputType, Int } from "type-graphql"
import { type GuardrailAction, GuardrailActionEnum, type GuardrailBlock, GuardrailBlockEnum } from "../entities/kit/guardrail-words.js"
import { Trimmed, Verbatim } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"

const action = (what: string) => ({ nullable: true, description: `What happens to ${what}. Default: OFF.` }) as const

@InputType({ description: "What a rule does with the customer's message and with the answer." })
export class GuardrailActionsInput {
  @Field(() => GuardrailActionEnum, action("the customer's message"))
  customer?: GuardrailAction | null

  @Field(() => GuardrailActionEnum, action("the answer"))
  answer?: GuardrailAction | null
}

@InputType({ description: "The rule about telephone numbers." })
export class PhoneGuardrailInput extends GuardrailActionsInput {
  @Field(() => [String], {
    nullable: true,
    description: `Countries (ISO 3166, two letters) whose numbers are found without the country code, at most ${entityLimits.guardrailCountries}.`,
  })
  countries?: string[] | null
}

@InputType({ description: "The rule about words and patterns of the company." })
export class WordGuardrailInput extends GuardrailActionsInput {
  @Field(() => [Trimmed({ max: entityLimits.guardrailWord })], {
    nullable: true,
    description: `Words and phrases, found as whole words whatever their case; at most ${entityLimits.guardrailWords}.`,
  })
  words?: string[] | null

  @Field(() => [Verbatim(entityLimits.guardrailPattern)], {
    nullable: true,
    description: `Regular expressions in the syntax of RE2, found anywhere whatever the case; at most ${entityLimits.guardrailPatterns}.`,
  })
  patterns?: string[] | null
}

@InputType({ description: "The rule about links." })
export class LinkGuardrailInput extends GuardrailActionsInput {
  @Field(() => [Trimmed({ max: entityLimits.guardrailHost })], {
    nullable: true,
    description: `Hosts of the company, such as example.com, each with its subdomains; at most ${entityLimits.guardrailHosts}.`,
  })
  hosts?: string[] | null
}

@InputType({ description: "The rule about answers without a source." })
export class SourceGuardrailInput {
  @Field(() => GuardrailActionEnum, action("an answer that is based on neither knowledge nor the output of a tool"))
  answer?: GuardrailAction | null
}

@InputType({ description: "The rule about the length of texts." })
export class LengthGuardrailInput extends GuardrailActionsInput {
  @Field(() => Int, { nullable: true, description: `Longest message of the customer, 1 to ${entityLimits.messageText} characters.` })
  customerMax?: number | null

  @Field(() => Int, { nullable: true, description: `Longest answer, 1 to ${entityLimits.messageText} characters.` })
  answerMax?: number | null
}

@InputType({ description: "The rule that a text model of a vendor judges." })
export class ScopeGuardrailInput extends GuardrailActionsInput {
  @Field(() => Trimmed({ max: entityLimits.guardrailScope }), {
    nullable: true,
    description: "What is out of scope, as a sentence for the text model.",
  })
  outOfScope?: string | null
}

@InputType({ description: "The guardrails of an assistant. They replace the previous ones as a whole: a rule that is absent is off." })
export class GuardrailSettingsInput {
  @Field(() => GuardrailActionsInput, { nullable: true, description: "Card numbers with a valid check digit." })
  card?: GuardrailActionsInput | null

  @Field(() => GuardrailActionsInput, { nullable: true, description: "IBANs with a valid check number." })
  iban?: GuardrailActionsInput | null

  @Field(() => GuardrailActionsInput, { nullable: true, description: "E-mail addresses." })
  email?: GuardrailActionsInput | null

  @Field(() => PhoneGuardrailInput, { nullable: true, description: "Telephone numbers." })
  phone?: PhoneGuardrailInput | null

  @Field(() => WordGuardrailInput, { nullable: true, description: "Words and patterns of the company." })
  words?: WordGuardrailInput | null

  @Field(() => LinkGuardrailInput, { nullable: true, description: "Links to other hosts than those of the company." })
  links?: LinkGuardrailInput | null

  @Field(() => SourceGuardrailInput, { nullable: true, description: "Answers without a source in the knowledge." })
  sources?: SourceGuardrailInput | null

  @Field(() => LengthGuardrailInput, { nullable: true, description: "Texts that are too long." })
  length?: LengthGuardrailInput | null

  @Field(() => ScopeGuardrailInput, { nullable: true, description: "Texts that are out of scope, as a text model judges." })
  scope?: ScopeGuardrailInput | null

  @Field(() => GuardrailBlockEnum, { nullable: true, description: "What a stopped text becomes. Default: SENTENCE." })
  onBlock?: GuardrailBlock | null

  @Field(() => Verbatim(entityLimits.messageText), {
    nullable: true,
    description: "What the assistant says in place of a stopped text. Required for SENTENCE when a rule stops texts.",
  })
  sentence?: string | null
}
