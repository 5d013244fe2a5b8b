import type { Logger } from "pino"

/** Background work beside requests and jobs; a stop waits for it. */
export class Running {
  #all = new Set<Promise<void>>()

  constructor(private readonly log: Logger) {}

  /** Tracks a promise until it resolves or rejects; a rejection is logged. */
  add(work: Promise<void>): Promise<void> {
    const followed = work
      .catch((error) => this.log.error({ err: error }, "background work failed"))
      .finally(() => this.#all.delete(followed))
    this.#all.add(followed)
    return followed
  }

  /** Resolves when no background work runs. */
  async idle(): Promise<void> {
    while (this.#all.size > 0) await Promise.all(this.#all)
  }
}
