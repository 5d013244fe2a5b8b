import { jobLimits } from "../limits.js"

/** Limits on concurrent runs of a kind of work. */
export interface SlotLimits {
  /** Per instance. */
  instance: number
  /** Per instance and company, so that the long work of one company leaves slots for others. */
  company: number
  /** Of those of the instance, the slots that a company may have several of; each further one is for a company that has none. */
  shared?: number
}

/** The slots of an instance for a kind of work. */
export class Slots {
  readonly #running = new Map<string, number>()
  #total = 0
  #isAwaited = false
  /** Companies with work that waits for a sweep. */
  readonly #waiting = new Set<string>()
  /** Slots that were released since the last sweep began. */
  #released = 0

  constructor(readonly limits: SlotLimits) {}

  /** Number of running items. */
  get total() {
    return this.#total
  }

  /** The slots that can be taken now, and how many of all a company may have. */
  get room(): { free: number; company: number } {
    const { instance, company, shared = instance } = this.limits
    return this.#total < shared ? { free: shared - this.#total, company } : { free: instance - this.#total, company: 1 }
  }

  /** Number of running items by company. */
  get running() {
    return new Map(this.#running)
  }

  /** Whether all slots, or all of the company, are taken. */
  isFull(companyId?: string): boolean {
    const { free, company } = this.room
    return free <= 0 || (companyId !== undefined && (this.#running.get(companyId) ?? 0) >= company)
  }

  /** Whether work of the company must wait: for a slot, or because earlier work of the company waits for one. */
  mustWait(companyId: string): boolean {
    return this.isFull(companyId) || this.#waiting.has(companyId)
  }

  /** Has released slots start a sweep; until it begins, work of the company waits for it. */
  awaitSweep(companyId?: string) {
    this.#isAwaited = true
    if (companyId !== undefined) this.#waiting.add(companyId)
  }

  /** Forgets what waited, because a sweep begins, which finds it. */
  beginSweep() {
    this.#isAwaited = false
    this.#released = 0
    this.#waiting.clear()
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
    this.#released += 1
  }

  /** Whether work waits for a sweep and so many slots were released that the sweep is worth its statement. */
  get areWorthASweep(): boolean {
    return (
      this.#isAwaited &&
      (this.#released >= Math.min(jobLimits.claimBatch, this.limits.company / jobLimits.sweepsOfSlots) || this.#total === 0)
    )
  }
}
