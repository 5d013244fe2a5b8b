import { completeGuardrails, type GuardrailSettings } from "../entities/kit/guardrail-settings.js"
import type { GuardrailDirection, GuardrailRule } from "../entities/kit/guardrail-words.js"
import { cards } from "./card.js"
import { emails } from "./email.js"
import { type ActiveRule, type DirectionRules, Guard } from "./guard.js"
import { ibans } from "./iban.js"
import { links } from "./link.js"
import { phones } from "./phone.js"
import type { Finder } from "./rule.js"
import { patternFinder, wordFinder } from "./words.js"

/** Compiles the guardrails of an assistant; null when no rule is on, so that an assistant without guardrails costs nothing. */
export function compileGuard(stored: Partial<GuardrailSettings> | null): Guard | null {
  if (!stored) return null
  const settings = completeGuardrails(stored)
  const rules = { customer: rulesOf(settings, "customer"), answer: rulesOf(settings, "answer") }
  const { sources, scope } = settings
  const isOn = Object.values(rules).some(({ finders, length }) => finders.length > 0 || length)
  if (!isOn && [sources.answer, scope.customer, scope.answer].every((action) => action === "off")) return null
  return new Guard(settings, rules, [cards, ibans, emails, phones(settings.phone.countries)])
}

function rulesOf(settings: GuardrailSettings, direction: GuardrailDirection): DirectionRules {
  const { card, iban, email, phone, words, links: link, length } = settings
  const finders: ActiveRule[] = []
  const add = (
    rule: GuardrailRule,
    { [direction]: action }: Record<GuardrailDirection, ActiveRule["action"] | "off">,
    finder: () => Finder,
  ) => {
    if (action !== "off") finders.push({ rule, action, finder: finder() })
  }
  add("card", card, () => cards)
  add("iban", iban, () => ibans)
  add("email", email, () => emails)
  add("phone", phone, () => phones(phone.countries))
  if (words.words.length > 0) add("words", words, () => wordFinder(words.words))
  if (words.patterns.length > 0) add("words", words, () => patternFinder(words.patterns))
  add("links", link, () => links(link.hosts))
  const most = direction === "customer" ? length.customerMax : length.answerMax
  return { finders, length: length[direction] !== "off" && most !== null ? { most, action: length[direction] } : null }
}
