import type { ReadMeter } from "../database/run-query.js"
import { BadUserInput, RateLimited } from "../errors.js"
import type { TurnKind } from "./fair-turns.js"
import { contextLimits } from "./limits.js"

const { reads: limits } = contextLimits

/** What an operation reads from the database, or one statement of a subscription or of durable work: more than its limit is refused. */
export class OperationReads implements ReadMeter {
  #bytes = 0

  /** `hold` gets the bytes that the operation holds; it may throw. */
  constructor(private readonly hold: (bytes: number) => void = () => {}) {}

  take(bytes: number) {
    this.#bytes += bytes
    if (this.#bytes > limits.operationBytes)
      throw new BadUserInput(`The operation reads more than ${limits.operationBytes / 2 ** 20} MB: ask for fewer rows or fields`)
    if (this.#bytes > limits.smallBytes) this.hold(this.#bytes)
  }

  /** What was read has been sent, or is no longer needed. */
  forget() {
    this.#bytes = 0
    this.hold(0)
  }
}

/**
 * Bounds what the large operations of a company hold in memory at the same time, from the first row until the response has left: its data and
 * its text. Small ones are never refused. As in `FairTurns`, the visitors of a company are counted apart from its members and tokens.
 */
export class ReadBudget {
  readonly #held = new Map<string, number>()

  /** Begins an operation; `end` is called when its response has left. */
  begin(companyId: string, kind: TurnKind): { reads: OperationReads; end: () => void } {
    const payer = `${companyId} ${kind}`
    let held = 0
    let isEnded = false
    const hold = (bytes: number) => {
      // One whose client is gone may still read.
      if (isEnded || bytes === held) return
      const all = (this.#held.get(payer) ?? 0) - held + bytes
      if (bytes > held && all > limits.companyBytes)
        throw new RateLimited(limits.retrySeconds, "Too many large responses at the same time: read them, then try again")
      held = bytes
      if (all > 0) this.#held.set(payer, all)
      else this.#held.delete(payer)
    }
    const reads = new OperationReads(hold)
    const end = () => {
      reads.forget()
      isEnded = true
    }
    return { reads, end }
  }
}
