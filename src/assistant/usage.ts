import type { EntityManager } from "@mikro-orm/postgresql"
import { AssistantTurn } from "../entities/assistant-turn.js"
import type { ModelAnswer } from "../ports/text-model.js"

/** Counts the cost of a turn: model calls, their time, and tokens. */
export class Usage {
  private rounds = 0
  private latencyMs = 0
  private inputTokens: number | null = null
  private outputTokens: number | null = null

  /** Calls the model and counts it. */
  async counted(ask: () => Promise<ModelAnswer>): Promise<ModelAnswer> {
    const begin = performance.now()
    this.rounds += 1
    try {
      const answer = await ask()
      this.inputTokens = sum(this.inputTokens, answer.usage.inputTokens)
      this.outputTokens = sum(this.outputTokens, answer.usage.outputTokens)
      return answer
    } finally {
      this.latencyMs += performance.now() - begin
    }
  }

  /** Stores the counts of the turn, whatever its outcome. */
  async write(em: EntityManager, turnId: string): Promise<void> {
    const { rounds, inputTokens, outputTokens } = this
    await em.nativeUpdate(AssistantTurn, { id: turnId }, { rounds, inputTokens, outputTokens, latencyMs: Math.round(this.latencyMs) })
  }
}

const sum = (one: number | null, other: number | null) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0))
