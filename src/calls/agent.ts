import { assistantLimits } from "../assistant/limits.js"
import type { VoiceAgentSettings, VoiceProvider } from "../ports/voice.js"
import type { CallAssistant } from "./conversation.js"

/** The prompt of an agent that does not run on this server, with the knowledge that is given as a whole. */
const withKnowledge = ({ settings, knowledge }: CallAssistant["configuration"]) =>
  [settings.prompt, ...knowledge.map(({ name, content }) => `# ${name}\n${content}`)].join("\n\n")

/** The agent of a call, with texts that have no placeholders. */
export function agentOfCall(speaker: CallAssistant, provider: VoiceProvider): VoiceAgentSettings {
  const { assistant, configuration, firstMessage, model } = speaker
  const { vaRegistration: voice } = assistant
  return {
    assistantId: assistant.id,
    agentId: assistant.voiceAgentProvider === provider.name ? assistant.voiceAgentId : null,
    name: assistant.name,
    instructions: provider.capabilities.agents ? withKnowledge(configuration) : configuration.settings.prompt,
    firstMessage,
    language: assistant.language,
    voiceId: voice?.voiceId ?? null,
    phoneNumber: voice?.phoneNumber ?? null,
    interruptible: voice?.interruptible ?? true,
    silenceTimeoutSeconds: voice?.silenceTimeoutSeconds ?? assistantLimits.voiceDefaults.silenceTimeoutSeconds,
    maxDurationSeconds: voice?.maxDurationSeconds ?? assistantLimits.voiceDefaults.maxDurationSeconds,
    model: model.provider === "offline" ? null : model.name,
    temperature: assistant.temperature,
  }
}
