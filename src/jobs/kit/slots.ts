/** How much of a kind of work may run at once. */
export interface SlotLimits {
  /** In one instance. */
  instance: number
  /** In one instance for one company, so that one company's long work leaves room for another's. */
  company: number
}

/** What an instance runs of a kind of work. */
export class Slots {
  readonly #running = new Map<string, number>()
  #total = 0

  constructor(readonly limits: SlotLimits) {}

  /** How many are running. */
  get running() {
    return this.#total
  }

  get free() {
    return this.limits.instance - this.#total
  }

  /** The companies that have work running, and how much each has. */
  get companies(): [ids: string[], running: number[]] {
    return [[...this.#running.keys()], [...this.#running.values()]]
  }

  /** Takes a slot for a company; false when all are taken, or as many as one company may have. */
  take(companyId: string): boolean {
    const own = this.#running.get(companyId) ?? 0
    if (this.free <= 0 || own >= this.limits.company) return false
    this.#running.set(companyId, own + 1)
    this.#total += 1
    return true
  }

  /** Gives a slot back; true when something may have waited for it. */
  give(companyId: string): boolean {
    const own = this.#running.get(companyId)!
    const wasFull = this.free <= 0 || own >= this.limits.company
    if (own > 1) this.#running.set(companyId, own - 1)
    else this.#running.delete(companyId)
    this.#total -= 1
    return wasFull
  }
}
