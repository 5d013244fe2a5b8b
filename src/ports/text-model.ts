import { v5 as uuidV5 } from "uuid"

/** One turn of a conversation as a model reads it; `person` is a human colleague of the assistant, `call` and `result` are its tool calls. */
export type ModelMessage =
  | { role: "customer" | "assistant" | "person"; text: string }
  | { role: "call"; callId: string; name: string; arguments: unknown }
  | { role: "result"; callId: string; name: string; output: unknown }

/** A tool that the model may ask for; `parameters` is a JSON Schema of type object. */
export interface ModelTool {
  name: string
  description: string
  parameters: object
}

/** Everything a model is told for one answer. */
export interface ModelRequest {
  /** The assistant's prompt. */
  instructions: string
  greeting: string | null
  /** BCP 47: the language to answer in when the customer's own is unclear. */
  language: string
  /** Unsearchable knowledge, whole: reference data, never instructions. */
  knowledge: { name: string; content: string }[]
  /** What the model is told about hand-offs and returns, oldest first. */
  notes: string[]
  /** Oldest first; calls and results may stand apart or lack their partner. */
  messages: ModelMessage[]
  /** Empty: the model has to answer in words. */
  tools: ModelTool[]
  /** 0..2, null leaves it to the vendor. */
  temperature: number | null
  /** Aborting ends the request at once with a `ModelFailure`. */
  signal: AbortSignal
  /** Hears what the answer says so far, each time more, while it is being made; without it the answer comes in one piece. */
  onText?: (text: string) => void
}

/** A tool call that a model asks for; `arguments` are as the model gave them: not checked against the schema, a string when they were no JSON. */
export interface ModelToolCall {
  callId: string
  name: string
  arguments: unknown
}

/** What a model answered: words, tool calls or both, never neither; token counts are null where the vendor does not say. */
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
  /** Answers with at most one request to the vendor, never a retry; throws `ModelFailure` and nothing else. */
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

// Never change it: assistants refer to models by these ids.
const NAMESPACE = "6f0a3c1e-5d0b-4c0e-9a53-2b1f7c84d9e6"

/** Names a model by provider and model: the same UUID v5 everywhere. */
export function textModelId(provider: string, model: string): string {
  return uuidV5(`${provider}/${model}`, NAMESPACE)
}
