import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from "ai"
import { v4 as uuidV4 } from "uuid"
import { Deadline } from "../kit/deadline.js"
import { vendorFault } from "../kit/vendor-fault.js"
import { portLimits } from "../limits.js"
import {
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type ModelTool,
  type ScopeAnswer,
  type ScopeQuestion,
  type TextModel,
  textModelId,
} from "../text-model.js"
import { COLLEAGUE, conversation, scopeText, systemText } from "./prompt.js"

/** Connection to a vendor; `baseUrl` defaults to the vendor's public one, `capMs` is the timeout of one answer. */
export interface VendorOptions {
  baseUrl?: string
  apiKey?: string
  model: string
  capMs?: number
}

/** A model behind any server that speaks `POST {baseUrl}/chat/completions`; without a key no `Authorization` is sent, as local servers expect. */
export function openAiCompatible(options: VendorOptions): TextModel {
  const { baseUrl = "https://api.openai.com/v1", apiKey, model } = options
  return textModel(
    "openai",
    "OpenAI",
    createOpenAICompatible({ name: "openai", baseURL: baseUrl, apiKey, includeUsage: true })(model),
    options,
  )
}

/** Claude over Anthropic's Messages API; `baseUrl` may stop before `/v1`, as Anthropic's own variable does. */
export function anthropic(options: VendorOptions): TextModel {
  const { baseUrl = "https://api.anthropic.com/v1", apiKey = "", model } = options
  const root = baseUrl.replace(/\/+$/, "")
  // All settings are passed, so that the SDK does not read the environment.
  const vendor = createAnthropic({ baseURL: /\/v\d+$/.test(root) ? root : `${root}/v1`, apiKey })
  return textModel("anthropic", "Anthropic", vendor(model), options)
}

// The SDK would log advice about settings (such as a clamped temperature) to standard error for every answer.
globalThis.AI_SDK_LOG_WARNINGS = false

function textModel(
  provider: string,
  vendor: string,
  language: LanguageModel,
  { model, apiKey, capMs = portLimits.modelCallMs }: VendorOptions,
): TextModel {
  const cap = `${vendor} gave no answer within ${capMs / 1000} s`
  async function inTime<T>(wanted: AbortSignal, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using deadline = new Deadline(capMs, wanted)
    try {
      return await request(deadline.signal)
    } catch (error) {
      deadline.abort()
      if (wanted.aborted) throw new ModelFailure("The answer is no longer wanted")
      if (deadline.isOver) throw new ModelFailure(cap)
      throw failure(error, vendor, apiKey)
    }
  }
  return {
    id: textModelId(provider, model),
    name: model,
    provider,
    answer: (request) => inTime(request.signal, (signal) => ask(language, request, signal)),
    isOutOfScope: (question) => inTime(question.signal, (signal) => judge(language, question, signal)),
  }
}

async function judge(model: LanguageModel, question: ScopeQuestion, abortSignal: AbortSignal): Promise<ScopeAnswer> {
  const { text, usage } = await generateText({ model, ...scopeText(question), temperature: 0, maxRetries: 0, abortSignal })
  const [word] = /\b(?:yes|no)\b/i.exec(visibleText(text)) ?? []
  if (!word) throw new ModelFailure("The model did not say whether a text is out of scope")
  return { isOutOfScope: word.toLowerCase() === "yes", usage: tokensOf(usage) }
}

const tokensOf = ({ inputTokens, outputTokens }: { inputTokens?: number; outputTokens?: number }) => ({
  inputTokens: inputTokens ?? null,
  outputTokens: outputTokens ?? null,
})

async function ask(model: LanguageModel, request: ModelRequest, abortSignal: AbortSignal): Promise<ModelAnswer> {
  const settings = {
    model,
    instructions: systemText(request),
    messages: conversation(request.messages),
    tools: request.tools.length ? Object.fromEntries(request.tools.map(offered)) : undefined,
    temperature: request.temperature ?? undefined,
    maxRetries: 0,
    abortSignal,
  }
  const { text, toolCalls, usage } = await (request.onText ? streamed(settings, request.onText) : generateText(settings))
  const calls = toolCalls.map((call) => ({
    callId: call.toolCallId || uuidV4(),
    name: call.toolName,
    // Many servers send an empty string for no arguments.
    arguments: call.input === "" ? {} : (call.input as unknown),
  }))
  const words = visibleText(text)
  if (!words && !calls.length) throw new ModelFailure("The model gave an empty answer")
  return {
    text: words || null,
    toolCalls: calls,
    usage: tokensOf(usage),
  }
}

/** Streams the answer and reports each part as it arrives. */
async function streamed(settings: Parameters<typeof streamText>[0], onText: (text: string) => void) {
  // Errors are read from the stream; the SDK would log them to standard error.
  const result = streamText({ ...settings, onError: () => {} })
  let text = ""
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error
    if (part.type !== "text-delta") continue
    text += part.text
    // Text that may become a colleague's mark is held back.
    const visible = visibleText(text)
    if (visible && !COLLEAGUE.startsWith(visible)) onText(visible)
  }
  // A stream without a finish reason was cut off.
  if ((await result.rawFinishReason) === undefined) throw new ModelFailure("The model's answer broke off")
  return { text, toolCalls: await result.toolCalls, usage: await result.usage }
}

// Without `execute` the SDK returns the call; without `validate` it does not check the arguments. The caller does both.
function offered({ name, description, parameters }: ModelTool) {
  return [name, tool({ description, inputSchema: jsonSchema({ type: "object", properties: {}, ...parameters }) })] as const
}

// Local servers include the model's reasoning in the answer, and a model may copy a colleague's mark.
function visibleText(text: string) {
  const visible = text.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, "").trim()
  return visible.startsWith(COLLEAGUE) ? visible.slice(COLLEAGUE.length).trim() : visible
}

function failure(error: unknown, vendor: string, apiKey: string | undefined): ModelFailure {
  if (error instanceof ModelFailure) return error
  const { message, status } = vendorFault(error, vendor, apiKey)
  return new ModelFailure(message, status)
}
