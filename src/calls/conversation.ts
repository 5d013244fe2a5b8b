import { LockMode } from "@mikro-orm/postgresql"
import { type AssistantConfiguration, readConfiguration } from "../assistant/configuration.js"
import { runGuarded } from "../assistant/guarded.js"
import { answerOf } from "../assistant/tool-loop.js"
import type { OfferedTool } from "../assistant/tools.js"
import { Usage } from "../assistant/usage.js"
import { isOnCalls } from "../assistant/voice-tools.js"
import { LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import { resultLost, ToolCall } from "../entities/tool-call.js"
import { type PlacedFinding, recordHits } from "../guardrails/hits.js"
import type { ModelMessage, ModelToolCall, TextModel } from "../ports/text-model.js"
import type { SaidText, VoiceHost } from "../ports/voice.js"
import { runToolOnCall } from "./tool-call.js"
import { rendered } from "./variables.js"

/** The assistant of a call: its configuration with the placeholders filled in, and its model. */
export interface CallAssistant {
  assistant: Assistant
  configuration: AssistantConfiguration
  model: TextModel
  /** The first sentence; null means that the customer speaks first. */
  firstMessage: string | null
  /** Placeholders without a value. */
  unresolved: string[]
}

/** Reads the assistant of a call; null when it is gone. */
export async function assistantOfCall(tx: RequestContext, call: Call): Promise<CallAssistant | null> {
  const assistant = call.assistantId ? await tx.em.findOne(Assistant, { id: call.assistantId }) : null
  if (!assistant) return null
  const { models } = tx.services
  const configuration = await readConfiguration(tx.unit, assistant.id)
  const fill = (text: string) => rendered(text, call.dynamicVariables)
  const prompt = fill(assistant.prompt)
  const greeting = assistant.greeting === null ? null : fill(assistant.greeting)
  const own = assistant.vaRegistration?.firstMessage
  const first = own ? fill(own) : greeting
  return {
    assistant,
    configuration: {
      ...configuration,
      settings: { ...configuration.settings, prompt: prompt.text, greeting: greeting?.text ?? null },
      tools: configuration.tools.filter(isOnCalls),
    },
    model: models.find(({ id }) => id === assistant.textModelId) ?? models[0]!,
    firstMessage: first?.text ?? null,
    unresolved: [...new Set([...prompt.unresolved, ...(first?.unresolved ?? [])])],
  }
}

/** A message of the conversation: a call of a tool carries the ID of its log entry, a customer's whether the hits of guardrails in it are recorded. */
type KeptMessage = ModelMessage & { entryId?: string; isJudged?: boolean }

/** A call whose conversation this server leads, under a lease. Everything that is said and called is kept on the row before it takes effect. */
export class CallConversation implements Pick<VoiceHost, "said" | "say" | "answer"> {
  private messages: KeptMessage[]
  /** What the guardrails found and the next transaction records. */
  private findings: PlacedFinding[] = []

  constructor(
    private readonly context: RequestContext,
    private readonly callId: string,
    private readonly runId: string,
    private readonly speaker: CallAssistant,
    kept: unknown,
    private readonly signal: AbortSignal,
  ) {
    this.messages = (kept as KeptMessage[] | null) ?? []
  }

  get said(): SaidText[] {
    return this.messages.flatMap((message): SaidText[] =>
      message.role === "customer"
        ? [{ role: "customer" as const, text: message.text }]
        : message.role === "assistant"
          ? [{ role: "agent" as const, text: message.text }]
          : [],
    )
  }

  say(role: "agent" | "customer", text: string): Promise<void> {
    return this.keep({ role: role === "agent" ? "assistant" : "customer", text })
  }

  async answer(): Promise<string | null> {
    await this.endLostCalls()
    const { configuration, model } = this.speaker
    const messages = this.messages.map((message) => ({ ...message, isNew: message.role === "customer" && !message.isJudged }))
    const asking = { configuration, model, messages, notes: [], rounds: 0, usage: new Usage(), progress: {} }
    const conclusion = await runGuarded(asking, this.context.services.models, (tool, call) => this.run(tool, call), this.signal)
    if (!conclusion) throw new LeaseLost()
    this.messages = this.messages.map((message) => (message.role === "customer" ? { ...message, isJudged: true } : message))
    this.findings = conclusion.findings
    // Nobody can take a call over: what is said on a hand-off is all that the guardrails can do.
    const text = answerOf(conclusion.text) || (conclusion.isStopped ? answerOf(configuration.settings.handOffMessage) : "")
    if (!text && this.findings.length > 0) await this.keepAll(this.messages)
    return text || null
  }

  /** Executes a tool; the call is kept with its log entry, its result as soon as it is there. */
  private async run(tool: OfferedTool, asked: ModelToolCall) {
    const { callId, name } = asked
    const result = await runToolOnCall(this.context, this.callId, tool, asked, (call, entry) => {
      if (!call.line.holds(this.runId)) return false
      this.messages = [...this.messages, { role: "call", callId, name, arguments: asked.arguments, entryId: entry.id }]
      call.conversation = this.messages
      return true
    })
    const isKept = this.messages.some((message) => message.role === "call" && message.callId === callId)
    if (result && isKept) await this.keep({ role: "result", callId, name, output: result.output })
    return result
  }

  /** Ends the calls of a worker that was lost: the model learns that their results are unknown, unless the log has them. */
  private async endLostCalls() {
    const results = new Set(this.messages.flatMap((message) => (message.role === "result" ? [message.callId] : [])))
    for (const message of this.messages) {
      if (message.role !== "call" || results.has(message.callId)) continue
      const output = await this.context.transaction(async (tx) => {
        const entry = message.entryId ? await tx.em.findOne(ToolCall, { id: message.entryId }) : null
        entry?.endUnknown(resultLost)
        return entry?.success ? entry.response : { error: entry?.error ?? resultLost }
      })
      await this.keep({ role: "result", callId: message.callId, name: message.name, output })
    }
  }

  /** Stores a message on the row; throws when the lease was lost. */
  private keep(message: KeptMessage): Promise<void> {
    return this.keepAll([...this.messages, message])
  }

  private async keepAll(messages: KeptMessage[]): Promise<void> {
    const isOurs = await this.context.transaction(async (tx) => {
      const call = await tx.em.findOne(Call, { id: this.callId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
      if (!call?.line.holds(this.runId)) return false
      call.conversation = messages
      const { companyId, id: callId } = call
      recordHits(tx.em, { companyId, chatId: null, callId, assistantId: this.speaker.assistant.id, answerId: null }, this.findings)
      return true
    })
    if (!isOurs) throw new LeaseLost()
    this.findings = []
    this.messages = messages
  }
}
