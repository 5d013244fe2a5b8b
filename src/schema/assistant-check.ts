import type { Services } from "../context/services.js"
import type { VaRegistration } from "../entities/kit/va-registration.js"
import { BadUserInput, type Detail } from "../errors/errors.js"
import type { AssistantFields, VaRegistrationInput } from "./assistant.js"
import { schemaLimits } from "./limits.js"

const refuse = (details: Detail[]) => {
  if (details.length > 0) throw new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
}

/** Checks what scalars cannot: the language, the temperature, the number of excluded tags and the text model. */
export function checkAssistant(input: AssistantFields, { models }: Pick<Services, "models">) {
  const details: Detail[] = []
  if (input.language && !isLanguage(input.language))
    details.push({ path: "language", message: "must be a BCP 47 language tag, such as en or pt-BR" })
  if (input.temperature != null && (input.temperature < 0 || input.temperature > schemaLimits.temperatureMax))
    details.push({ path: "temperature", message: `must be 0 to ${schemaLimits.temperatureMax}` })
  if (input.excludedTags && input.excludedTags.length > schemaLimits.excludedTags)
    details.push({ path: "excludedTags", message: `must have at most ${schemaLimits.excludedTags} names` })
  if (input.textModelId && !models.some((model) => model.id === input.textModelId))
    details.push({ path: "textModelId", message: "names no text model of this server; the GraphQL query textModels lists them" })
  refuse(details)
}

function isLanguage(tag: string) {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

const numbers = [
  { field: "silenceTimeoutSeconds", max: schemaLimits.voiceSilenceMaxSeconds },
  { field: "maxDurationSeconds", max: schemaLimits.voiceDurationMaxSeconds },
] as const

/** Builds complete voice settings from an input and the defaults; throws when a value is invalid. */
export function registrationOf(input: VaRegistrationInput, services: Pick<Services, "voices">): VaRegistration {
  const details: Detail[] = []
  const report = (field: string, message: string) => details.push({ path: `vaRegistration.${field}`, message })
  for (const { field, max } of numbers) {
    const value = input[field]
    if (value === null) report(field, "must not be null")
    else if (value !== undefined && (value < 1 || value > max)) report(field, `must be 1 to ${max}`)
  }
  if (input.interruptible === null) report("interruptible", "must not be null")
  refuse(details)
  mustBeUsable(input.provider, services)
  return {
    provider: input.provider,
    voiceId: input.voiceId ?? null,
    phoneNumber: input.phoneNumber ?? null,
    firstMessage: input.firstMessage ?? null,
    interruptible: input.interruptible ?? true,
    silenceTimeoutSeconds: input.silenceTimeoutSeconds ?? schemaLimits.voiceSilenceDefaultSeconds,
    maxDurationSeconds: input.maxDurationSeconds ?? schemaLimits.voiceDurationDefaultSeconds,
  }
}

/** Throws when the voice provider is not configured on this server. */
function mustBeUsable(provider: string, { voices }: Pick<Services, "voices">) {
  if (voices.some((voice) => voice.name === provider)) return
  const names = voices.map(({ name }) => name).join(", ")
  refuse([{ path: "vaRegistration.provider", message: `"${provider}" is not configured on this server; available providers: ${names}` }])
}
