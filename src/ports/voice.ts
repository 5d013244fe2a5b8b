import type { IncomingHttpHeaders } from "node:http"
import type { Readable } from "node:stream"

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
  /** Name of the text model; null means the provider's default. */
  model?: string | null
  /** Sampling temperature; null means the provider's default. */
  temperature?: number | null
  /** Tools that the agent may call. */
  tools?: VoiceTool[]
}

/** A tool that a provider's agent calls at the address of this server. */
export interface VoiceTool {
  id: string
  name: string
  description: string
  /** JSON Schema of type object. */
  parameters: Record<string, unknown>
  timeoutSeconds: number
  url: string
  /** Value of the header that authenticates the provider. */
  secret: string
}

/** A call to dial. Texts are rendered: they have no placeholders. */
export interface DialRequest {
  /** The provider gets it as the user of the call, so that a call in doubt can be found. */
  callId: string
  agent: VoiceAgentSettings
  /** E.164. */
  toNumber: string
  /** null means the provider's first number for outbound calls. */
  fromNumber: string | null
  ringSeconds: number
}

/** The outcome of a dial. `in_doubt`: it may have been dialed. `refused`: it was not; `busy` when it may be asked again. */
export type DialResult =
  | { kind: "dialed"; providerCallId: string; reference: string | null }
  | { kind: "refused"; reason: string; busy: boolean; retryAfterMs: number }
  | { kind: "in_doubt"; reason: string }

/** What was said on a call. */
export interface VoiceReply {
  role: "agent" | "customer"
  text: string
  startSeconds: number | null
  endSeconds: number | null
}

/** How a call ended, in the provider's words. */
export interface CallEnding {
  /** Why it was not connected: `busy`, `no-answer`, `unknown`. */
  failure: string | null
  /** Status of the SIP response. */
  sipStatus: number | null
  /** Why a connected call ended. */
  reason: string | null
  /** Whether the provider reports an error. */
  isError: boolean
}

/** What a provider reports about a call. The provider does not decide its status: the table of `src/calls/outcome.ts` does. */
export interface CallFacts {
  callId: string | null
  providerCallId: string | null
  /** The telephone network's ID. */
  reference: string | null
  state: "dialing" | "in_progress" | "ended"
  /** null before the end. */
  ending: CallEnding | null
  /** Seconds from the answer to the end. */
  durationSeconds: number | null
  /** null while it is not there yet. */
  replies: VoiceReply[] | null
}

/** A report of a provider that came by its webhook. */
export interface CallReportFacts extends CallFacts {
  providerCallId: string
  /** Kind of the report, of which a call has several. */
  kind: string
}

/** Names of a call at its provider; `providerCallId` is null while the answer to the dial is unknown. */
export interface ProviderCall {
  callId: string
  providerCallId: string | null
}

/** A recording, as its bytes. */
export interface VoiceRecording {
  content: Readable
  filename: string
}

/** What a provider without a telephone network needs of this server, which then leads the conversation. */
export interface VoiceHost {
  variables: Record<string, string | number | boolean | null>
  toNumber: string
  firstMessage: string | null
  silenceTimeoutSeconds: number
  maxDurationSeconds: number
  /** What was said before this process resumed the call. */
  said: readonly SaidText[]
  /** Records that the customer has answered. */
  answered(): Promise<void>
  /** Keeps what was said, so that it is not said again after a crash. */
  say(role: "agent" | "customer", text: string): Promise<void>
  /** The assistant's answer to what was said; null when it says nothing. */
  answer(): Promise<string | null>
}

/** A text that was said on a call. */
export interface SaidText {
  role: "agent" | "customer"
  text: string
}

/** A provider of voice agents and calls. */
export interface VoiceProvider {
  /** Its name in `vaRegistration.provider`. */
  name: string
  capabilities: {
    /** Whether it can end a call. */
    hangUp: boolean
    /** Whether it sends webhooks. */
    webhooks: boolean
    /** Whether a call that it does not find was certainly not dialed. */
    exactLookUp: boolean
    /** Whether a call needs an agent that was created before. */
    agents: boolean
  }
  /** Creates or updates the agent of an assistant and returns its ID. Throws only `VoiceFailure`. */
  provision(settings: VoiceAgentSettings, signal: AbortSignal): Promise<string>
  /** Removes the agent of an assistant; a missing one is ignored. Throws only `VoiceFailure`. */
  tearDown(agent: { assistantId: string; agentId: string | null }, signal: AbortSignal): Promise<void>
  /** Dials once, without retries. Never throws. */
  dial(request: DialRequest, signal: AbortSignal): Promise<DialResult>
  /** Ends a call; returns false where the provider cannot. Throws only `VoiceFailure`. */
  hangUp(providerCallId: string, signal: AbortSignal): Promise<boolean>
  /** Whether a webhook comes from the provider. */
  verifyWebhook(request: { headers: IncomingHttpHeaders; body: Buffer }, now: Date): boolean
  /** Reads a verified webhook; null for one that reports nothing about a call. */
  parseWebhook(json: unknown): CallReportFacts | null
  /** What the provider knows about a call; null when it knows none. Throws only `VoiceFailure`. */
  lookUp(call: ProviderCall, signal: AbortSignal): Promise<CallFacts | null>
  /** The recording of an ended call; null when there is none. Throws only `VoiceFailure`. */
  recording(call: ProviderCall & { replies: readonly VoiceReply[] }, signal: AbortSignal): Promise<VoiceRecording | null>
  /** Plays a call whose conversation this server leads, until its end. Only a provider without a telephone network has it. */
  play?(call: ProviderCall, host: VoiceHost, signal: AbortSignal): Promise<CallFacts>
}

/** Thrown when a request to a provider failed; `message` is one sentence without keys that may be shown to the assistant's owner. */
export class VoiceFailure extends Error {
  override name = "VoiceFailure"

  constructor(
    message: string,
    /** Whether a retry is useless: an unknown voice, a refused number. */
    readonly isFinal = false,
    /** Shortest pause that the provider demands. */
    readonly retryAfterMs = 0,
  ) {
    super(message)
  }
}
