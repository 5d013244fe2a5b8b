import { Field, Int, ObjectType } from "type-graphql"
import { type GuardrailAction, GuardrailActionEnum, type GuardrailBlock, GuardrailBlockEnum } from "./guardrail-words.js"

/** What a rule does in both directions. */
@ObjectType({ description: "What a rule of the guardrails does with the customer's message and with the answer." })
export class GuardrailActions {
  @Field(() => GuardrailActionEnum, { description: "With the customer's message." })
  customer: GuardrailAction = "off"

  @Field(() => GuardrailActionEnum, { description: "With the answer of the assistant." })
  answer: GuardrailAction = "off"
}

@ObjectType({ description: "The rule about telephone numbers." })
export class PhoneGuardrail extends GuardrailActions {
  @Field(() => [String], {
    description:
      "Countries (ISO 3166, two letters) whose numbers are found without the country code. Numbers with + or 00 are always found.",
  })
  countries: string[] = []
}

@ObjectType({ description: "The rule about words and patterns of the company." })
export class WordGuardrail extends GuardrailActions {
  @Field(() => [String], { description: "Words and phrases, found as whole words whatever their case." })
  words: string[] = []

  @Field(() => [String], { description: "Regular expressions in the syntax of RE2, found anywhere whatever the case." })
  patterns: string[] = []
}

@ObjectType({ description: "The rule about links." })
export class LinkGuardrail extends GuardrailActions {
  @Field(() => [String], { description: "Hosts of the company. Links to them and to their subdomains are not found." })
  hosts: string[] = []
}

@ObjectType({ description: "The rule about answers without a source." })
export class SourceGuardrail {
  @Field(() => GuardrailActionEnum, { description: "With an answer that is based on neither knowledge nor the output of a tool." })
  answer: GuardrailAction = "off"
}

@ObjectType({ description: "The rule about the length of texts." })
export class LengthGuardrail extends GuardrailActions {
  @Field(() => Int, { nullable: true, description: "Longest message of the customer, in characters (Unicode code points)." })
  customerMax: number | null = null

  @Field(() => Int, { nullable: true, description: "Longest answer, in characters (Unicode code points)." })
  answerMax: number | null = null
}

@ObjectType({ description: "The rule that a text model judges." })
export class ScopeGuardrail extends GuardrailActions {
  @Field(() => String, { nullable: true, description: "What is out of scope, as a sentence for the text model." })
  outOfScope: string | null = null
}

/** The guardrails of an assistant, stored as one JSON value; a new instance has all rules off. */
@ObjectType({ description: "The guardrails of an assistant: rules about the customer's messages and the answers." })
export class GuardrailSettings {
  @Field(() => GuardrailActions, { description: "Card numbers with a valid check digit." })
  card: GuardrailActions = new GuardrailActions()

  @Field(() => GuardrailActions, { description: "IBANs with a valid check number." })
  iban: GuardrailActions = new GuardrailActions()

  @Field(() => GuardrailActions, { description: "E-mail addresses." })
  email: GuardrailActions = new GuardrailActions()

  @Field(() => PhoneGuardrail, { description: "Telephone numbers." })
  phone: PhoneGuardrail = new PhoneGuardrail()

  @Field(() => WordGuardrail, { description: "Words and patterns of the company." })
  words: WordGuardrail = new WordGuardrail()

  @Field(() => LinkGuardrail, { description: "Links to other hosts than those of the company." })
  links: LinkGuardrail = new LinkGuardrail()

  @Field(() => SourceGuardrail, { description: "Answers without a source in the knowledge." })
  sources: SourceGuardrail = new SourceGuardrail()

  @Field(() => LengthGuardrail, { description: "Texts that are too long." })
  length: LengthGuardrail = new LengthGuardrail()

  @Field(() => ScopeGuardrail, { description: "Texts that are out of scope, as a text model judges." })
  scope: ScopeGuardrail = new ScopeGuardrail()

  @Field(() => GuardrailBlockEnum, { description: "What a stopped text becomes." })
  onBlock: GuardrailBlock = "sentence"

  @Field(() => String, { nullable: true, description: "What the assistant says in place of a stopped text; null for nothing." })
  sentence: string | null = null
}

/** Complete settings from what is stored, which may lack rules that are newer; null means that all are off. */
export function completeGuardrails(stored: Partial<GuardrailSettings> | null): GuardrailSettings {
  const all = new GuardrailSettings()
  if (!stored) return all
  for (const [name, value] of Object.entries(stored) as [keyof GuardrailSettings, unknown][]) {
    const own = all[name]
    Object.assign(all, { [name]: own && typeof own === "object" ? { ...own, ...(value as object) } : value })
  }
  return all
}
