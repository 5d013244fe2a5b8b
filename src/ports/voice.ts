/** The settings of a voice agent. */
export interface VoiceAgentSettings {
  /** An assistant has at most one agent at a provider: a repeated request returns the same agent. */
  assistantId: string
  /** The provider's ID of an existing agent. */
  agentId: string | null
  name: string
  /** The assistant's prompt; `{{placeholders}}` are filled in for each call. */
  instructions: string
  /** First sentence of the agent; null means that the customer speaks first. */
  firstMessage: string | null
  /** BCP 47. */
  language: string
  /** null means the provider's default. */
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
  /** Creates or updates the agent of an assistant and returns its ID. Throws only `VoiceFailure`. */
  provision(settings: VoiceAgentSettings, signal: AbortSignal): Promise<string>
  /** Removes the agent of an assistant; a missing one is ignored. Throws only `VoiceFailure`. */
  tearDown(agent: { assistantId: string; agentId: string | null }, signal: AbortSignal): Promise<void>
}

/** Thrown when a request to a provider failed; `message` is one sentence without keys that may be shown to the assistant's owner. */
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
