/** What a voice provider makes an agent of. */
export interface VoiceAgentSettings {
  /** An assistant has at most one agent at a provider: asked again for the same assistant, the provider answers the same agent. */
  assistantId: string
  /** What the provider calls the agent, when it has said so before. */
  agentId: string | null
  name: string
  /** The assistant's prompt; `{{placeholders}}` are filled in for each call. */
  instructions: string
  /** What the agent says first; null leaves the first word to the customer. */
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

/** Where the agents live that speak for assistants. */
export interface VoiceProvider {
  /** As `vaRegistration.provider` names it. */
  name: string
  /** Makes the agent of an assistant, or brings the one that it has up to date; answers its id. Throws `VoiceFailure` and nothing else. */
  provision(wish: VoiceAgentSettings, signal: AbortSignal): Promise<string>
  /** Removes the agent of an assistant; one that is not there is no fault. Throws `VoiceFailure` and nothing else. */
  tearDown(agent: { assistantId: string; agentId: string | null }, signal: AbortSignal): Promise<void>
}

/** A provider did not do what it was asked to; `message` is one sentence without keys, fit to be shown to the assistant's owner. */
export class VoiceFailure extends Error {
  override name = "VoiceFailure"

  constructor(
    message: string,
    /** Asking again in the same words is of no use: an unknown voice, a refused number. */
    readonly isFinal = false,
  ) {
    super(message)
  }
}
