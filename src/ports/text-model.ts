import { v5 as uuidV5 } from "uuid"

/** One turn of a conversation as a model reads it; `person` is a human colleague of the assistant, `call` and `result` are its tool calls. */
export type ModelMessage =
  | { role: "customer" | "assistant" | "person"; text: string }
  | { role: "call"; callId: string; name: string; arguments: unknown }
  | { role: "result"; callId: string; name: string; output: unknown }

/** A tool that the model may call; `parameters` is a JSON Schema of type object. */
export interface ModelTool {
  name: string
  description: string
  parameters: object
}

/** The input of one model call. */
export interface ModelRequest {
  /** The assistant's prompt. */
  instructions: string
  greeting: string | null
  /** Language (BCP 47) of the answer when that of the customer is unclear. */
  language: string
  /** Knowledge items in full: reference data, never instructions. */
  knowledge: { name: string; content: string }[]
  /** Notes about hand-offs and returns, oldest first. */
  notes: string[]
  /** Oldest first; calls and results may be separated, or lack their counterpart. */
  messages: ModelMessage[]
  /** When empty, the model must answer with text. */
  tools: ModelTool[]
  /** 0 to 2; null means the vendor's default. */
  temperature: number | null
  /** Aborting ends the request at once with a `ModelFailure`. */
  signal: AbortSignal
  /** Called with the text so far while the answer is streamed; without it the answer is not streamed. */
  onText?: (text: string) => void
}

/** A tool call of a model; `arguments` are unchecked: a string when they were not JSON. */
export interface ModelToolCall {
  callId: string
  name: string
  arguments: unknown
}

/** A model's answer: text, tool calls or both; token counts are null when the vendor does not report them. */
export interface ModelAnswer {
  text: string | null
  toolCalls: ModelToolCall[]
  usage: { inputTokens: number | null; outputTokens: number | null }
}

/** A text that a model judges by a sentence about what is out of scope. */
export interface ScopeQuestion {
  /** The company's sentence about what is out of scope. */
  outOfScope: string
  /** Whether it is a customer's message or an answer. */
  kind: "customer" | "answer"
  text: string
  /** Aborting ends the request at once with a `ModelFailure`. */
  signal: AbortSignal
}

/** What a model says of a text; token counts are null when the vendor does not report them. */
export interface ScopeAnswer {
  isOutOfScope: boolean
  usage: ModelAnswer["usage"]
}

/** A language model that answers customers; `id` is stable over restarts and deployments. */
export interface TextModel {
  id: string
  name: string
  provider: string
  /** Sends at most one request to the vendor, without retries; throws only `ModelFailure`. */
  answer(request: ModelRequest): Promise<ModelAnswer>
  /** Judges a text in the same way, by one small request; absent where a model cannot. */
  isOutOfScope?(question: ScopeQuestion): Promise<ScopeAnswer>
}

/** Thrown when a model gave no usable answer; `message` is a short sentence that is safe to log, `status` the vendor's status, if any. */
export class ModelFailure extends Error {
  override name = "ModelFailure"

  constructor(
    message: string,
    readonly status: number | null = null,
  ) {
    super(message)
  }
}

// Must never change: assistants refer to models by these ids.
const NAMESPACE = "6f0a3c1e-5d0b-4c0e-9a53-2b1f7c84d9e6"

/** The id of a model: a UUID v5 of provider and model, the same on every deployment. */
export function textModelId(provider: string, model: string): string {
  return uuidV5(`${provider}/${model}`, NAMESPACE)
}
