/** Limits on concurrent runs of a kind of work. */
export interface SlotLimits {
  /** Per instance. */
  instance: number
  /** Per instance and company, so that the long work of one company leaves slots for others. */
  company: number
}

/** The slots of an instance for a kind of work. */
export class Slots {
  readonly #running = new Map<string, number>()
  #total = 0
  #isAwaited = false

  constructor(readonly limits: SlotLimits) {}

  /** Number of running items. */
  get total() {
    return this.#total
  }

  get free() {
    return this.limits.instance - this.#total
  }

  /** Number of running items by company. */
  get running() {
    return new Map(this.#running)
  }

  /** Whether all slots, or all of the company, are taken; if so, the next released slot starts a sweep. */
  mustWait(companyId?: string): boolean {
    const isFull = this.free <= 0 || (companyId !== undefined && (this.#running.get(companyId) ?? 0) >= this.limits.company)
    this.#isAwaited ||= isFull
    return isFull
  }

  take(companyId: string) {
    this.#running.set(companyId, (this.#running.get(companyId) ?? 0) + 1)
    this.#total += 1
  }

  release(companyId: string) {
    const own = this.#running.get(companyId)! - 1
    if (own > 0) this.#running.set(companyId, own)
    else this.#running.delete(companyId)
    this.#total -= 1
  }

  /** Whether work waits for a slot; resets the flag. */
  consumeWaiting(): boolean {
    const wasAwaited = this.#isAwaited
    this.#isAwaited = false
    return wasAwaited
  }
}
