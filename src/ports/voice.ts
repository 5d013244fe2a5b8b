/** The settings of a voice agent. */
export interface VoiceAgentSettings {
  /** An assistant has at most one agent at a provider: a repeated request returns the same agent. */
  assistantId: string
  /** The provider's id of an existing agent. */
  agentId: string | null
  name: string
  /** The assistant's prompt; `{{placeholders}}` are filled in for each call. */
  instructions: string
  /** What the agent says first; null: the customer speaks first. */
  firstMessage: string | null
  /** BCP 47. */
  language: string
  /** null leaves it to the provider. */
  voiceId: string | null
  /** E.164. */
  phoneNumber: string | null
  interruptible: boolean
  silenceTimeoutSeconds: number
  maxDurationSeconds: number
}

/** A provider of voice agents. */
export interface VoiceProvider {
  /** Its name in `vaRegistration.provider`. */
  name: string
  /** Creates or updates the agent of an assistant and returns its id. Throws `VoiceFailure` and nothing else. */
  provision(wish: VoiceAgentSettings, signal: AbortSignal): Promise<string>
  /** Removes the agent of an assistant; a missing one is ignored. Throws `VoiceFailure` and nothing else. */
  tearDown(agent: { assistantId: string; agentId: string | null }, signal: AbortSignal): Promise<void>
}

/** A provider's request failed; `message` is one sentence without keys that may be shown to the assistant's owner. */
export class VoiceFailure extends Error {
  override name = "VoiceFailure"

  constructor(
    message: string,
    /** Whether a retry is useless: an unknown voice, a refused number. */
    readonly isFinal = false,
  ) {
    super(message)
  }
}
