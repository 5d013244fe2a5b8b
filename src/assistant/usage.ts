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
  async counted<A extends Pick<ModelAnswer, "usage">>(ask: () => Promise<A>): Promise<A> {
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

  /** The counts, as a turn's row stores them. */
  get counts() {
    const { rounds, inputTokens, outputTokens, latencyMs } = this
    return { rounds, inputTokens, outputTokens, latencyMs: Math.round(latencyMs) }
  }

  /** Stores the counts of the turn, whatever its outcome. */
  async write(em: EntityManager, turnId: string): Promise<void> {
    await em.nativeUpdate(AssistantTurn, { id: turnId }, this.counts)
  }
}

const sum = (one: number | null, other: number | null) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0))
