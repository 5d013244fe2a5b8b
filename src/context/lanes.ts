import pLimit, { type LimitFunction } from "p-limit"

/** Runs work a few at a time for each key, in its order; a key without work takes no memory. */
export class Lanes {
  readonly #limits = new Map<string, LimitFunction>()

  constructor(private readonly atOnce: number) {}

  /** How much work of a key waits for its place. */
  waiting(key: string): number {
    return this.#limits.get(key)?.pendingCount ?? 0
  }

  async run<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    const limit = this.#limits.get(key) ?? pLimit(this.atOnce)
    this.#limits.set(key, limit)
    try {
      return await limit(work as () => Promise<T>)
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#limits.delete(key)
    }
  }
}
