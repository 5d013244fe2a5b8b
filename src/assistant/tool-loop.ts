import { clock } from "../entities/kit/clock.js"
import { storableText } from "../entities/kit/storable.js"
import { turnOffAiMode } from "../entities/kit/system-tools.js"
import type { MessageSource } from "../entities/message.js"
import { type ModelAnswer, ModelFailure, type ModelMessage, type ModelToolCall, type TextModel } from "../ports/text-model.js"
import type { AssistantConfiguration } from "./configuration.js"
import { assistantLimits } from "./limits.js"
import { sourcesOf } from "./sources.js"
import type { OfferedTool } from "./tools.js"
import type { Usage } from "./usage.js"

/** The result of a turn: an answer, a hand-off, or both. */
export interface Conclusion {
  text: string | null
  handOver: ModelToolCall | null
  /** The sources of the answer. */
  sources: MessageSource[]
}

/** A message that was said; of the customer, whether this turn answers it, and the ID of its row. */
export type HeardMessage = ModelMessage & { isNew?: boolean; messageId?: string }

/** What the model is asked: in a chat and on a call alike. */
export interface Asking {
  configuration: AssistantConfiguration
  /** What was said, oldest first. */
  messages: readonly HeardMessage[]
  /** Sentences about hand-offs and returns. */
  notes: string[]
  /** Rounds of tool calls by earlier workers. */
  rounds: number
  model: TextModel
  usage: Usage
  progress: { onText?(text: string): void }
}

/** The result of a call as the model receives it. */
export interface ModelToolResult {
  output: unknown
}

/** Executes a tool call of the model in a round, counted from 1, and returns its result; null when the turn was lost. */
export type ToolRunner = (tool: OfferedTool, call: ModelToolCall, round: number) => Promise<ModelToolResult | null>

/** The result of a call of an unknown tool. */
export const noSuchTool: ModelToolResult = { output: { error: "There is no such tool" } }

/** The text of an answer as it is stored; empty when there is none. */
export const answerOf = (text: string | null) => storableText(text ?? "").trim()

/**
 * Calls the model, outside any transaction, and executes the tools that it calls, until it answers or hands off; returns null when the turn
 * was lost. After `toolRounds` or `turnSeconds` the model must answer without tools.
 */
export async function runToolLoop(turn: Asking, run: ToolRunner, signal: AbortSignal): Promise<Conclusion | null> {
  const messages: ModelMessage[] = [...turn.messages]
  const toolsUntil = clock.now().getTime() + assistantLimits.turnSeconds * 1000
  for (let round = turn.rounds + 1; ; round += 1) {
    const mayCall = round <= assistantLimits.toolRounds && clock.now().getTime() < toolsUntil
    const tools = mayCall ? turn.configuration.tools : []
    const answer = await ask(turn, messages, tools, signal)
    if (answer.toolCalls.length === 0)
      return { text: answer.text, handOver: null, sources: sourcesOf(answer.text ?? "", messages, turn.configuration.knowledge) }
    if (!mayCall) throw new ModelFailure("The model keeps calling tools that it was not offered")
    const results: ModelMessage[] = []
    for (const call of answer.toolCalls) {
      const tool = tools.find(({ declaration }) => declaration.name === call.name)
      if (tool?.isSystem && call.name === turnOffAiMode.name) return { text: answer.text, handOver: call, sources: [] }
      // Checked between calls, so that none is sent for a lost turn or from a stopping process.
      signal.throwIfAborted()
      const result = tool ? await run(tool, call, round) : noSuchTool
      if (!result) return null
      results.push({ role: "result", callId: call.callId, name: call.name, output: result.output })
    }
    for (const { callId, name, arguments: given } of answer.toolCalls) messages.push({ role: "call", callId, name, arguments: given })
    messages.push(...results)
  }
}

function ask(turn: Asking, messages: ModelMessage[], tools: OfferedTool[], signal: AbortSignal): Promise<ModelAnswer> {
  const { configuration, notes } = turn
  const { settings, knowledge } = configuration
  const { prompt: instructions, greeting, language, temperature } = settings
  const { onText } = turn.progress
  const input = { instructions, greeting, language, temperature, knowledge, notes, messages, signal, onText }
  return turn.usage.counted(() => turn.model.answer({ ...input, tools: tools.map((tool) => tool.declaration) }))
}
