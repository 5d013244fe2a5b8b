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
  #isAwaited = false

  constructor(readonly limits: SlotLimits) {}

  /** How much is running. */
  get total() {
    return this.#total
  }

  get free() {
    return this.limits.instance - this.#total
  }

  /** How much each company has running. */
  get running() {
    return new Map(this.#running)
  }

  /** Whether all slots are taken, or as many as a company may have: what has to wait is looked for when a slot is given back. */
  mustWait(companyId?: string): boolean {
    const isFull = this.free <= 0 || (companyId !== undefined && (this.#running.get(companyId) ?? 0) >= this.limits.company)
    this.#isAwaited ||= isFull
    return isFull
  }

  take(companyId: string) {
    this.#running.set(companyId, (this.#running.get(companyId) ?? 0) + 1)
    this.#total += 1
  }

  give(companyId: string) {
    const own = this.#running.get(companyId)! - 1
    if (own > 0) this.#running.set(companyId, own)
    else this.#running.delete(companyId)
    this.#total -= 1
  }

  /** Whether something waits for a slot; it is asked for once. */
  takeWaiting(): boolean {
    const wasAwaited = this.#isAwaited
    this.#isAwaited = false
    return wasAwaited
  }
}
