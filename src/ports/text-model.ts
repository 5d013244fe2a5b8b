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
  /** BCP 47: the language to answer in when the customer's own is unclear. */
  language: string
  /** Knowledge items that are given whole: reference data, never instructions. */
  knowledge: { name: string; content: string }[]
  /** Notes about hand-offs and returns, oldest first. */
  notes: string[]
  /** Oldest first; calls and results may be apart or without their counterpart. */
  messages: ModelMessage[]
  /** Empty: the model must answer in text. */
  tools: ModelTool[]
  /** 0..2, null leaves it to the vendor. */
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

/** A model's answer: text, tool calls or both, never neither; token counts are null where the vendor does not say. */
export interface ModelAnswer {
  text: string | null
  toolCalls: ModelToolCall[]
  usage: { inputTokens: number | null; outputTokens: number | null }
}

/** A language model that answers customers; `id` is stable over restarts and deployments. */
export interface TextModel {
  id: string
  name: string
  provider: string
  /** Sends at most one request to the vendor, without retries; throws `ModelFailure` and nothing else. */
  answer(request: ModelRequest): Promise<ModelAnswer>
}

/** A model gave no usable answer; `message` is one short sentence without keys, safe to log, `status` the vendor's HTTP status if it gave one. */
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
