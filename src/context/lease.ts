import { type EntityClass, type FilterQuery, LockMode } from "@mikro-orm/postgresql"
import type { CompanyOwned } from "../entities/kit/row.js"
import type { RequestContext } from "./request-context.js"

/** Work was taken away while it ran: there is nothing left to store. */
export class LeaseLost extends Error {}

/** What a lease is on, and on which terms. */
export interface LeaseTerms<T> {
  context: RequestContext
  entity: EntityClass<T>
  /** The row that the work is on. */
  id: string
  /** The run that has taken the work: its fence. */
  runId: string
  /** How often the lease is renewed. */
  renewMs: number
  /** Extends the lease; false when the work was taken away. */
  renew(): Promise<boolean>
  /** The fence: whether the run still holds the row. */
  holds(row: T): boolean
  /** Runs in every transaction of `store()`, also when the work was taken away. */
  always(tx: RequestContext): Promise<void> | undefined
  /** Ends the work in the transaction that stored its result. */
  end(row: T): void
}

/** A worker's hold on work: renewed while it runs, and the only way to store its result. */
export class Lease<T extends CompanyOwned> {
  /** Aborts when the work was taken away, or when the process stops. */
  readonly signal: AbortSignal
  readonly context: RequestContext
  readonly id: string
  readonly runId: string
  readonly #lost = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(private readonly terms: LeaseTerms<T>) {
    const { context, id, runId, renewMs } = terms
    this.context = context
    this.id = id
    this.runId = runId
    this.signal = AbortSignal.any([this.#lost.signal, context.services.stopping])
    this.#timer = setInterval(() => void this.#renew(), renewMs)
  }

  /** Whether it is known that the work was taken away; the fence decides when something is stored. */
  get isLost() {
    return this.#lost.signal.aborted
  }

  /** Stores the result and ends the work, in one transaction that has locked the row; false, and nothing is stored, when the work was taken away. */
  async store(write: (row: T, tx: RequestContext) => unknown): Promise<boolean> {
    const { context, entity, id, holds, always, end } = this.terms
    const isOurs = await context.transaction(async (tx) => {
      const row = await tx.em.findOne(entity, { id } as FilterQuery<T>, { lockMode: LockMode.PESSIMISTIC_WRITE })
      await always(tx)
      if (!row || !holds(row as T)) return false
      await write(row as T, tx)
      end(row as T)
      return true
    })
    if (!isOurs) this.#lost.abort()
    return isOurs
  }

  /** Renews it no more. */
  stop() {
    clearInterval(this.#timer)
  }

  async #renew() {
    try {
      if (!(await this.terms.renew())) this.#lost.abort()
    } catch (error) {
      // Not lost yet: the fence decides when the result is stored.
      this.context.request.log.warn({ err: error }, "a lease was not renewed")
    }
  }
}
