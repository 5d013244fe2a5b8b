import { setImmediate as afterTimers } from "node:timers/promises"
import { jobLimits } from "../limits.js"

interface Waiting<Due> {
  due: Due
  done(): void
}

/** Claims due work in its order: what becomes due while earlier claims run is claimed together, and only a few claims run at once. */
export class Claims<Due> {
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

  async #drain() {
    if (this.#claiming >= jobLimits.claimsAtOnce) return
    this.#claiming += 1
    // Work that becomes due in the same millisecond is added by further timers.
    await afterTimers()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, jobLimits.claimBatch)
      await this.claim(batch.map(({ due }) => due))
      for (const { done } of batch) done()
    }
    this.#claiming -= 1
  }
}
