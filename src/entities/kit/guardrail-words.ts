import { words } from "./words.js"

/** Rules of the guardrails of an assistant. */
export const GuardrailRuleEnum = words("GuardrailRule", "Rule of the guardrails of an assistant.", {
  card: "A card number with a valid check digit.",
  iban: "An IBAN with a valid check number.",
  email: "An e-mail address.",
  phone: "A telephone number.",
  words: "A word or a pattern of the company.",
  links: "A link to another host than those of the company.",
  sources: "An answer without a source in the knowledge.",
  length: "A text that is too long.",
  scope: "A text about what is out of scope, as a text model judges.",
})
export type GuardrailRule = (typeof GuardrailRuleEnum)[string]
export const guardrailRules = Object.values(GuardrailRuleEnum)

/** Whose text a rule judges. */
export const GuardrailDirectionEnum = words("GuardrailDirection", "Whose text a rule of the guardrails judges.", {
  customer: "The customer's message.",
  answer: "The answer of the assistant.",
})
export type GuardrailDirection = (typeof GuardrailDirectionEnum)[string]
export const guardrailDirections = Object.values(GuardrailDirectionEnum)

/** What happens to a text that a rule hits. */
export const GuardrailActionEnum = words("GuardrailAction", "What happens to a text that a rule of the guardrails hits.", {
  off: "The rule judges nothing.",
  log: "The hit is recorded, and the text stays as it is.",
  mask: "The hit is recorded, and what was found is replaced in the text; only for personal data.",
  block: "The hit is recorded, and the text is stopped.",
})
export type GuardrailAction = (typeof GuardrailActionEnum)[string]
/** Actions that a hit can have. */
export const guardrailHitActions = Object.values(GuardrailActionEnum).filter((action) => action !== "off")

/** What a stopped text becomes. */
export const GuardrailBlockEnum = words("GuardrailBlock", "What a text becomes that the guardrails stop.", {
  sentence: "The assistant says the configured sentence.",
  hand_off: "The assistant hands the chat over to a person, after the configured sentence if there is one.",
})
export type GuardrailBlock = (typeof GuardrailBlockEnum)[string]
