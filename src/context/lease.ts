import { type EntityClass, type FilterQuery, LockMode } from "@mikro-orm/postgresql"
import type { CompanyOwned } from "../entities/kit/row.js"
import type { RequestContext } from "./request-context.js"

/** Thrown when work was taken away while it ran, so that its result cannot be stored. */
export class LeaseLost extends Error {}

/** The terms of a lease. */
export interface LeaseTerms<T> {
  entity: EntityClass<T>
  /** Whether the run still holds the row (fencing). */
  holds(row: T): boolean
  /** Runs in every transaction of `store()`, also when the work was taken away. */
  always(tx: RequestContext): Promise<void> | undefined
  /** Ends the work in the transaction that stored its result. */
  end(row: T): void
}

/** A worker's lease on work, which its kind renews while the work runs. It stores the result. */
export class Lease<T extends CompanyOwned> {
  readonly #lost = new AbortController()
  /** Aborts when the work was taken away, or when the process stops. */
  readonly signal: AbortSignal

  constructor(
    readonly context: RequestContext,
    /** The row that the work is on. */
    readonly id: string,
    private readonly terms: LeaseTerms<T>,
  ) {
    this.signal = AbortSignal.any([this.#lost.signal, context.services.stopping])
  }

  /** Whether a renewal has found that the work was taken away; the fence decides when a result is stored. */
  get isLost() {
    return this.#lost.signal.aborted
  }

  /** Stores the result and ends the work in one transaction, which locks the row; false, and nothing is stored, when the work was taken away. */
  async store(write: (row: T, tx: RequestContext) => unknown): Promise<boolean> {
    const { entity, holds, always, end } = this.terms
    const isOurs = await this.context.transaction(async (tx) => {
      const where = { id: this.id } as FilterQuery<T>
      const row = (await tx.em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE })) as T | null
      await always(tx)
      if (!row || !holds(row)) return false
      await write(row, tx)
      end(row)
      return true
    })
    if (!isOurs) this.lose()
    return isOurs
  }

  /** Aborts the work: it was taken away. */
  lose() {
    this.#lost.abort()
  }
}
