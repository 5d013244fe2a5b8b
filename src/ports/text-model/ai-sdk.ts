import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from "ai"
import { v4 as uuidV4 } from "uuid"
import { vendorFault } from "../kit/vendor-fault.js"
import { portLimits } from "../limits.js"
import { type ModelAnswer, ModelFailure, type ModelRequest, type ModelTool, type TextModel, textModelId } from "../text-model.js"
import { COLLEAGUE, conversation, systemText } from "./prompt.js"

/** How a vendor is reached; `baseUrl` defaults to the vendor's public one, `capMs` is the longest wait for one answer. */
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
  // Everything is given here, so that the SDK does not look into the environment by itself.
  const vendor = createAnthropic({ baseURL: /\/v\d+$/.test(root) ? root : `${root}/v1`, apiKey })
  return textModel("anthropic", "Anthropic", vendor(model), options)
}

// The SDK's advice about settings (a temperature that it clamped) would go to standard error at every answer.
globalThis.AI_SDK_LOG_WARNINGS = false

function textModel(
  provider: string,
  vendor: string,
  language: LanguageModel,
  { model, apiKey, capMs = portLimits.modelCallMs }: VendorOptions,
): TextModel {
  const cap = `${vendor} gave no answer within ${capMs / 1000} s`
  return {
    id: textModelId(provider, model),
    name: model,
    provider,
    async answer(request) {
      const timeout = AbortSignal.timeout(capMs)
      try {
        return await ask(language, request, AbortSignal.any([request.signal, timeout]))
      } catch (error) {
        if (request.signal.aborted) throw new ModelFailure("The answer is no longer wanted")
        if (timeout.aborted) throw new ModelFailure(cap)
        throw failure(error, vendor, apiKey)
      }
    },
  }
}

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
    // Many servers write no arguments as an empty text.
    arguments: call.input === "" ? {} : (call.input as unknown),
  }))
  const words = spoken(text)
  if (!words && !calls.length) throw new ModelFailure("The model gave an empty answer")
  return {
    text: words || null,
    toolCalls: calls,
    usage: { inputTokens: usage.inputTokens ?? null, outputTokens: usage.outputTokens ?? null },
  }
}

/** The same in a stream, of which every piece is told as it comes. */
async function streamed(settings: Parameters<typeof streamText>[0], onText: (text: string) => void) {
  // Told here by the stream itself; the SDK would write it to standard error.
  const result = streamText({ ...settings, onError: () => {} })
  let text = ""
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error
    if (part.type !== "text-delta") continue
    text += part.text
    // What may still become the mark of a colleague is no words yet.
    const said = spoken(text)
    if (said && !COLLEAGUE.startsWith(said)) onText(said)
  }
  // A stream that just ends has lost its rest on the way.
  if ((await result.rawFinishReason) === undefined) throw new ModelFailure("The model's answer broke off")
  return { text, toolCalls: await result.toolCalls, usage: await result.usage }
}

// Without `execute` the SDK hands the call out; without `validate` it does not judge the arguments: both are the caller's.
function offered({ name, description, parameters }: ModelTool) {
  return [name, tool({ description, inputSchema: jsonSchema({ type: "object", properties: {}, ...parameters }) })] as const
}

// Local servers leave their model's thinking in the answer, and a model may copy the mark of a colleague.
function spoken(text: string) {
  const said = text.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, "").trim()
  return said.startsWith(COLLEAGUE) ? said.slice(COLLEAGUE.length).trim() : said
}

function failure(error: unknown, vendor: string, apiKey: string | undefined): ModelFailure {
  if (error instanceof ModelFailure) return error
  const { message, status } = vendorFault(error, vendor, apiKey)
  return new ModelFailure(message, status)
}
