import type { RequestContext } from "../context/request-context.js"
import type { VoiceAgentSettings, VoiceProvider } from "../ports/voice.js"
import type { CallAssistant } from "./conversation.js"
import { callLimits } from "./limits.js"

/** The agent of a call, with texts that have no placeholders. */
export function agentOfCall(_tx: RequestContext, speaker: CallAssistant, provider: VoiceProvider): VoiceAgentSettings {
  const { assistant, configuration, firstMessage, model } = speaker
  const { vaRegistration: voice } = assistant
  return {
    assistantId: assistant.id,
    agentId: assistant.voiceAgentProvider === provider.name ? assistant.voiceAgentId : null,
    name: assistant.name,
    instructions: configuration.settings.prompt,
    firstMessage,
    language: assistant.language,
    voiceId: voice?.voiceId ?? null,
    phoneNumber: voice?.phoneNumber ?? null,
    interruptible: voice?.interruptible ?? true,
    silenceTimeoutSeconds: voice?.silenceTimeoutSeconds ?? callLimits.silenceSeconds,
    maxDurationSeconds: voice?.maxDurationSeconds ?? callLimits.maxDurationSeconds,
    model: model.name,
    temperature: assistant.temperature,
  }
}
