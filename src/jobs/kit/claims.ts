import { jobLimits } from "../limits.js"
import { loopKeepsUp } from "./event-loop.js"

interface Waiting<Due> {
  due: Due
  done(): void
}

/** Claims due work in its order: what becomes due while earlier claims run is claimed together, and only a few claims run at once. */
export class Claims<Due extends { id: string }> {
  #waiting: Waiting<Due>[] = []
  #claiming = 0

  /** `claim` must not reject. */
  constructor(private readonly claim: (batch: Due[]) => Promise<void>) {}

  /** Claims the work with the next batch; resolves when that was tried. */
  add(due: Due): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ due, done })
      void this.#drain()
    })
  }

  /** IDs of the work that waits to be claimed. */
  get ids(): string[] {
    return this.#waiting.map(({ due }) => due.id)
  }

  async #drain() {
    if (this.#claiming >= jobLimits.claimsAtOnce) return
    this.#claiming += 1
    while (this.#waiting.length > 0) {
      // Work that becomes due meanwhile is claimed with it.
      await loopKeepsUp()
      const batch = this.#next()
      await this.claim(batch.map(({ due }) => due))
      for (const { done } of batch) done()
    }
    this.#claiming -= 1
  }

  /**
   * The next batch. A row that waits twice, found by a sweep and at its due time, is claimed once, and looked at again by a later batch: one
   * statement would claim it for both.
   */
  #next(): Waiting<Due>[] {
    const batch = new Map<string, Waiting<Due>>()
    for (const each of this.#waiting) if (batch.size < jobLimits.claimBatch && !batch.has(each.due.id)) batch.set(each.due.id, each)
    const taken = new Set(batch.values())
    this.#waiting = this.#waiting.filter((each) => !taken.has(each))
    return [...taken]
  }
}
