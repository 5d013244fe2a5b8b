import type { RequestContext } from "../context/request-context.js"
import { clock } from "../entities/kit/clock.js"
import { turnOffAiMode } from "../entities/kit/system-tools.js"
import type { MessageSource } from "../entities/message.js"
import { type ModelAnswer, ModelFailure, type ModelMessage, type ModelToolCall } from "../ports/text-model.js"
import { assistantLimits } from "./limits.js"
import { sourcesOf } from "./sources.js"
import { noSuchTool, runTool } from "./tool-run.js"
import type { Turn } from "./turn.js"

/** What a turn comes to: words, a hand-over, or both. */
export interface Conclusion {
  text: string | null
  handOver: ModelToolCall | null
  /** What the words were made from. */
  sources: MessageSource[]
}

/**
 * Asks the model, outside of any transaction, and carries out the tools that it calls, until it answers in words or hands over; null when the
 * turn was lost meanwhile. After so many rounds, or so long, it has to answer without tools.
 */
export async function converse(context: RequestContext, turn: Turn, signal: AbortSignal): Promise<Conclusion | null> {
  const messages: ModelMessage[] = [...turn.memory.messages]
  const toolsUntil = clock.now().getTime() + assistantLimits.turnSeconds * 1000
  for (let round = turn.rounds + 1; ; round += 1) {
    const mayCall = round <= assistantLimits.toolRounds && clock.now().getTime() < toolsUntil
    const tools = mayCall ? turn.tools : []
    const answer = await ask(turn, messages, tools, signal)
    if (answer.toolCalls.length === 0)
      return { text: answer.text, handOver: null, sources: sourcesOf(answer.text ?? "", messages, turn.memory.knowledge) }
    if (!mayCall) throw new ModelFailure("The model keeps calling tools that it was not offered")
    const results: ModelMessage[] = []
    for (const call of answer.toolCalls) {
      const tool = tools.find(({ row }) => row.name === call.name)
      if (tool?.row.isSystem && call.name === turnOffAiMode.name) return { text: answer.text, handOver: call, sources: [] }
      // Between two calls, so that none leaves for a turn that is over, or from a process that stops.
      signal.throwIfAborted()
      const told = tool ? await runTool(context, { id: turn.id, chatId: turn.chatId, round }, tool, call) : noSuchTool
      if (!told) return null
      results.push({ role: "result", callId: call.callId, name: call.name, output: told.output })
    }
    for (const { callId, name, arguments: given } of answer.toolCalls) messages.push({ role: "call", callId, name, arguments: given })
    messages.push(...results)
  }
}

function ask(turn: Turn, messages: ModelMessage[], tools: Turn["tools"], signal: AbortSignal): Promise<ModelAnswer> {
  const { assistant, knowledge, notes } = turn.memory
  const { prompt: instructions, greeting, language, temperature } = assistant
  const { onText } = turn.progress
  const told = { instructions, greeting, language, temperature, knowledge, notes, messages, signal, onText }
  return turn.usage.counted(() => turn.model.answer({ ...told, tools: tools.map((tool) => tool.told) }))
}
