import type { EntityClass } from "@mikro-orm/postgresql"
import type { Config } from "../../config/config.js"
import type { Lease } from "../../context/lease.js"
import type { RequestContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { DueRow, Failure, Retry, WorkState } from "../../entities/kit/work-state.js"
import type { SlotLimits } from "./slots.js"

/** Declaration of a kind of durable work: its columns, and what a worker does. */
export interface WorkDeclaration<T extends CompanyOwned, Input> {
  /** Name of the job that starts it, which is its file name. */
  name: string
  entity: EntityClass<T>
  /** Property of the entity with its `workState`. */
  columns: { [Key in keyof T]: T[Key] extends WorkState ? Key : never }[keyof T] & string
  /** Duration of a lease, interval of its renewal, and the number of lost workers after which the work fails. */
  lease: { ms: number; renewMs: number; losses?: { most: number; reason: string } }
  /** Retry schedule; as a function, null keeps the due time of the row. */
  retry: Retry | ((row: T, failure: Failure) => Retry | null)
  /** Runs at once; some depend on the configuration. */
  slots: SlotLimits | ((config: Config) => SlotLimits)
  /** Interval of the sweep that finds work after a crash or a lost wake-up. */
  sweepSeconds: number
  /** Reads the input of the run, in the transaction that claims the row; null when there is nothing to do. */
  claim(tx: RequestContext, row: T, runId: string): Promise<Input | null> | Input | null
  /**
   * Claims rows by one statement where a claim has no other effects; returns the inputs by the IDs of the runs, because a row
   * may be given twice, and the rows that are due and left to `claim`.
   */
  claimAtOnce?(services: Services, due: DueRow[]): Promise<{ claimed: Map<string, Input>; left: Set<string> }>
  /** Does the work outside of transactions and stores its result with `lease.store()`; without a result it runs again after the lease. */
  run(lease: Lease<T>, input: Input): Promise<unknown>
  /** Logs an error and returns its consequences for the next try. */
  failure(context: RequestContext, error: unknown, input: Input): Failure
  /** Stores that the work is not tried again, in the transaction that ends it. */
  giveUp(row: T, failure: Failure, tx: RequestContext): unknown
  /** A further condition, besides the run ID, for storing a result. */
  holds?(row: T, runId: string): boolean
  /** Restores the row after a run that failed or was released. */
  undo?(row: T, outcome: "failed" | "released"): void
  /** Stores the cost of a run in the transaction that ends it, also when the work was taken away. */
  cost?(tx: RequestContext, input: Input): Promise<void>
}

/** Counts of a kind of work, over all companies. */
export interface WorkCounts {
  /** Due and not running. */
  due: number
  /** Due for longer than the interval of the sweep. */
  overdue: number
  running: number
  /** Failed and waiting for the next try. */
  failed: number
  /** Due time of the oldest work. */
  oldest: Date | null
}
