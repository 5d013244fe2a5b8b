import type { Logger } from "pino"

/** Work that goes on beside requests and jobs; a stop waits for it. */
export class Running {
  #all = new Set<Promise<void>>()

  constructor(private readonly log: Logger) {}

  /** Follows a piece of work to its end; a failure is logged. */
  add(work: Promise<void>): Promise<void> {
    const followed = work
      .catch((error) => this.log.error({ err: error }, "work in the background failed"))
      .finally(() => this.#all.delete(followed))
    this.#all.add(followed)
    return followed
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    while (this.#all.size > 0) await Promise.all(this.#all)
  }
}
