/** Work that has a slot. */
interface Holder {
  companyId: string
  interruption: AbortController
}

/**
 * Slots for work in this process, shared fairly by companies: a free slot goes to the company with the fewest, and companies with as many
 * take turns. A company that is alone uses all of them. When another one has work and no slot, the latest work of a company with several
 * is interrupted, and runs again later.
 */
export class FairSlots {
  /** In the order in which they began. */
  readonly #holders = new Set<Holder>()
  /** Waiting work by company, in the order of the companies' turns. */
  readonly #waiting = new Map<string, ((holder: Holder) => void)[]>()

  constructor(private readonly count: number) {}

  /**
   * Runs work in a slot. Work that throws the reason of its interruption loses its slot and runs again from its start; work that ignores
   * the interruption keeps the slot to its end.
   */
  async run<T>(companyId: string, work: (interruption: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      const holder = await this.#slot(companyId)
      const { signal } = holder.interruption
      try {
        // Other work may have come since the slot was given.
        signal.throwIfAborted()
        return await work(signal)
      } catch (error) {
        if (!signal.aborted || error !== signal.reason) throw error
      } finally {
        this.#holders.delete(holder)
        this.#assign()
      }
    }
  }

  #slot(companyId: string): Promise<Holder> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(companyId) ?? []
      this.#waiting.set(companyId, own)
      own.push(resolve)
      this.#assign()
    })
  }

  #assign() {
    while (this.#holders.size < this.count && this.#waiting.size > 0) {
      const holders = [...this.#holders]
      const [companyId, own] = [...this.#waiting].reduce((least, each) =>
        countOf(each[0], holders) < countOf(least[0], holders) ? each : least,
      )
      const [resolve, ...others] = own
      // Its next turn comes after those of the other companies.
      this.#waiting.delete(companyId)
      if (others.length > 0) this.#waiting.set(companyId, others)
      const holder = { companyId, interruption: new AbortController() }
      this.#holders.add(holder)
      resolve!(holder)
    }
    this.#interrupt()
  }

  /** Interrupts work of companies with several slots, for each company that waits and has none. */
  #interrupt() {
    const holders = [...this.#holders]
    let going = holders.filter(({ interruption }) => !interruption.signal.aborted)
    let missing = [...this.#waiting.keys()].filter((companyId) => countOf(companyId, holders) === 0).length
    missing -= holders.length - going.length
    for (const holder of [...going].reverse()) {
      if (missing <= 0) return
      if (countOf(holder.companyId, going) < 2) continue
      going = going.filter((other) => other !== holder)
      missing -= 1
      holder.interruption.abort()
    }
  }
}

const countOf = (companyId: string, holders: Holder[]) => holders.filter((holder) => holder.companyId === companyId).length
