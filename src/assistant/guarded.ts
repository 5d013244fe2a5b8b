import type { GuardrailDirection } from "../entities/kit/guardrail-words.js"
import { isSystemToolName } from "../entities/kit/system-tools.js"
import type { Guard } from "../guardrails/guard.js"
import type { PlacedFinding } from "../guardrails/hits.js"
import { mask } from "../guardrails/rule.js"
import { type ScopeJudge, scopeJudge } from "../guardrails/scope.js"
import { needsSource } from "../guardrails/source.js"
import type { TextModel } from "../ports/text-model.js"
import { type Asking, answerOf, type Conclusion, type HeardMessage, runToolLoop, type ToolRunner } from "./tool-loop.js"

/** A conclusion behind the guardrails of the assistant: its text is what the customer may read. */
export interface Guarded extends Conclusion {
  /** Whether the guardrails hand the chat over. */
  isStopped: boolean
  findings: PlacedFinding[]
}

/**
 * Runs the tool loop behind the guardrails of the assistant: the model reads the customer's messages as they allow, and its answer is judged before
 * it leaves; returns null when the turn was lost. A message that is stopped is not given to the model.
 */
export async function runGuarded(
  turn: Asking,
  models: readonly TextModel[],
  run: ToolRunner,
  signal: AbortSignal,
): Promise<Guarded | null> {
  const { guard } = turn.configuration
  if (!guard) {
    const conclusion = await runToolLoop(turn, run, signal)
    return conclusion && { ...conclusion, isStopped: false, findings: [] }
  }
  return new GuardedTurn(turn, guard, scopeJudge(models, turn.model), signal).answer(run)
}

/** One turn behind guardrails. */
class GuardedTurn {
  private readonly findings: PlacedFinding[] = []

  constructor(
    private readonly turn: Asking,
    private readonly guard: Guard,
    private readonly judge: ScopeJudge | null,
    private readonly signal: AbortSignal,
  ) {}

  async answer(run: ToolRunner): Promise<Guarded | null> {
    const messages = this.turn.messages.map((message) => this.read(message))
    const asked = messages.filter(({ isNew }) => isNew)
    if (!this.isBlocked("customer")) await this.judgeScope("customer", textsOf(asked).join("\n"), asked.at(-1)?.messageId ?? null)
    if (this.isBlocked("customer")) return this.stopped({ text: null, handOver: null, sources: [] })
    let usesTools = messages.slice(messages.findLastIndex(({ isNew }) => isNew) + 1).some(isToolResult)
    const counting: ToolRunner = async (tool, call, round) => {
      const result = await run(tool, call, round)
      if (result && !tool.isSystem) usesTools = true
      return result
    }
    const found = await runToolLoop({ ...this.turn, messages }, counting, this.signal)
    return found && this.judged(found, textsOf(asked), usesTools)
  }

  /** The customer's message as the model reads it; hits are recorded in the turn that answers it. */
  private read(message: HeardMessage): HeardMessage {
    if (message.role !== "customer") return message
    const { findings, isBlocked, text } = this.guard.judgeMessage(message.text)
    if (message.isNew) this.findings.push(...findings.map((finding) => ({ ...finding, messageId: message.messageId ?? null })))
    return isBlocked || text !== message.text ? { ...message, text: isBlocked ? mask : text } : message
  }

  private async judged(found: Conclusion, asked: string[], usesTools: boolean): Promise<Guarded> {
    const text = answerOf(found.text)
    if (!text) return { ...found, isStopped: false, findings: this.findings }
    const { sources } = this.guard.settings
    const judgement = this.guard.judge("answer", text)
    this.findings.push(...judgement.findings.map((finding) => ({ ...finding, messageId: null })))
    const lacksSource = found.sources.length === 0 && !usesTools && !found.handOver && needsSource(asked, text)
    if (sources.answer !== "off" && lacksSource)
      this.find({ direction: "answer", rule: "sources", action: sources.answer, reason: "no_source" }, text)
    if (!this.isBlocked("answer")) await this.judgeScope("answer", text)
    return this.isBlocked("answer")
      ? this.stopped({ ...found, sources: [] })
      : { ...found, text: judgement.text, isStopped: false, findings: this.findings }
  }

  /** Asks a model whether a text is out of scope, where the guardrails want that and the server has one. */
  private async judgeScope(direction: GuardrailDirection, text: string, messageId: string | null = null): Promise<void> {
    const { scope } = this.guard.settings
    const action = scope[direction]
    const { judge, signal } = this
    if (action === "off" || !scope.outOfScope || !judge || !text.trim()) return
    const question = { outOfScope: scope.outOfScope, kind: direction, text, signal }
    const { isOutOfScope } = await this.turn.usage.counted(() => judge(question))
    if (isOutOfScope) this.find({ direction, rule: "scope", action, reason: "out_of_scope" }, text, messageId)
  }

  private find(about: Omit<PlacedFinding, "excerpt" | "messageId">, text: string, messageId: string | null = null) {
    this.findings.push({ ...this.guard.findingAbout(about, text), messageId })
  }

  private isBlocked(of: GuardrailDirection) {
    return this.findings.some(({ action, direction }) => action === "block" && direction === of)
  }

  /** What a stopped text becomes: the sentence, if there is one, and the hand-off where it is configured. */
  private stopped(found: Conclusion): Guarded {
    const { onBlock, sentence } = this.guard.settings
    return { ...found, text: sentence, isStopped: onBlock === "hand_off" && !found.handOver, findings: this.findings }
  }
}

const textsOf = (messages: HeardMessage[]) => messages.flatMap((message) => ("text" in message ? [message.text] : []))

const isToolResult = (message: HeardMessage) => message.role === "result" && !isSystemToolName(message.name)
