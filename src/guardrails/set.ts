import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { completeGuardrails, type GuardrailSettings } from "../entities/kit/guardrail-settings.js"
import type { GuardrailAction } from "../entities/kit/guardrail-words.js"
import { entityLimits } from "../entities/limits.js"
import { BadUserInput, type Detail } from "../errors/errors.js"
import type { GuardrailSettingsInput } from "../schema/guardrail.js"
import { fold } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import { canonicalHost } from "./link.js"
import { hasNumbers } from "./phone.js"
import { scopeJudge } from "./scope.js"
import { compilePattern } from "./words.js"

/** Replaces the guardrails of an assistant; throws for each setting that is wrong, before it looks for the assistant. */
export async function setGuardrails(context: RequestContext, assistantId: string, input: GuardrailSettingsInput): Promise<Assistant> {
  const settings = checkedSettings(input, context)
  const assistant = await context.find(Assistant, assistantId)
  assistant.refuseWhileDeleted()
  assistant.guardrailSettings = settings
  return assistant
}

/** Complete settings of an input. */
function checkedSettings(input: GuardrailSettingsInput, context: RequestContext): GuardrailSettings {
  const settings = completeGuardrails(withoutNulls(input) as Partial<GuardrailSettings>)
  settings.phone.countries = settings.phone.countries.map((country) => country.trim().toUpperCase())
  settings.sentence = settings.sentence?.trim() ? settings.sentence : null
  const details = [...actionFaults(settings), ...listFaults(settings), ...lengthFaults(settings), ...scopeFaults(settings, context)]
  const blocks = actionsOf(settings).some(({ action }) => action === "block")
  if (blocks && settings.onBlock === "sentence" && !settings.sentence)
    details.push({ path: "sentence", message: "is required when a rule stops texts" })
  if (details.length > 0) throw new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
  settings.links.hosts = settings.links.hosts.map((host) => canonicalHost(host)!)
  return settings
}

/** An input without what is null, which stands for the default. */
const withoutNulls = (input: object): object =>
  Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => {
      if (value == null) return []
      return [[name, typeof value === "object" && !Array.isArray(value) ? withoutNulls(value) : value]]
    }),
  )

const directions = ["customer", "answer"] as const
const rules = ["card", "iban", "email", "phone", "words", "links", "sources", "length", "scope"] as const
const personal: readonly string[] = ["card", "iban", "email", "phone"]

const actionsOf = (settings: GuardrailSettings) =>
  rules.flatMap((rule) =>
    directions.flatMap((direction) => {
      const action = (settings[rule] as Partial<Record<typeof direction, GuardrailAction>>)[direction]
      return action ? [{ rule, direction, action }] : []
    }),
  )

const actionFaults = (settings: GuardrailSettings): Detail[] =>
  actionsOf(settings)
    .filter(({ rule, action }) => action === "mask" && !personal.includes(rule))
    .map(({ rule, direction }) => ({ path: `${rule}.${direction}`, message: "must not be mask: only personal data can be replaced" }))

function listFaults({ phone, words, links }: GuardrailSettings): Detail[] {
  return [
    ...faultsOf("phone.countries", phone.countries, entityLimits.guardrailCountries, (country) =>
      hasNumbers(country) ? null : "must be a country with two letters, such as DE",
    ),
    ...faultsOf("words.words", words.words, entityLimits.guardrailWords, (word) =>
      fold(word).text.trim() ? null : "has no visible character",
    ),
    ...patternFaults(words.patterns),
    ...faultsOf("links.hosts", links.hosts, entityLimits.guardrailHosts, (host) =>
      canonicalHost(host) ? null : "must be a host alone, such as example.com",
    ),
  ]
}

function faultsOf(path: string, values: string[], most: number, faultOf: (value: string) => string | null): Detail[] {
  if (values.length > most) return [{ path, message: `must be at most ${most}` }]
  return values.flatMap((value, index) => {
    const message = faultOf(value)
    return message ? [{ path: `${path}.${index}`, message }] : []
  })
}

function patternFaults(patterns: string[]): Detail[] {
  let instructions = 0
  const faults = faultsOf("words.patterns", patterns, entityLimits.guardrailPatterns, (pattern) => {
    try {
      instructions += compilePattern(pattern).programSize()
      return null
    } catch (error) {
      if (error instanceof BadUserInput) return error.message
      throw error
    }
  })
  if (instructions <= guardrailLimits.patternInstructions) return faults
  return [...faults, { path: "words.patterns", message: "are too large together: shorten them, or repeat less in them" }]
}

const lengthFaults = ({ length }: GuardrailSettings): Detail[] =>
  directions.flatMap((direction) => {
    const [name, max] = direction === "customer" ? ["customerMax", length.customerMax] : ["answerMax", length.answerMax]
    if (length[direction] !== "off" && max === null) return [{ path: `length.${name}`, message: "is required when the rule is on" }]
    if (max === null || (max >= 1 && max <= entityLimits.messageText)) return []
    return [{ path: `length.${name}`, message: `must be 1 to ${entityLimits.messageText}` }]
  })

function scopeFaults({ scope }: GuardrailSettings, { services }: RequestContext): Detail[] {
  if (scope.customer === "off" && scope.answer === "off") return []
  const details: Detail[] = []
  if (!scope.outOfScope) details.push({ path: "scope.outOfScope", message: "is required when the rule is on" })
  if (!scopeJudge(services.models, null))
    details.push({
      path: "scope",
      message: "needs a text model of a vendor, which this server does not have: set OPENAI_API_KEY or ANTHROPIC_API_KEY",
    })
  return details
}
