import { type EntityClass, LockMode } from "@mikro-orm/postgresql"
import type { Lease } from "../../context/lease.js"
import type { RequestContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { Failure, Retry, WorkState } from "../../entities/kit/work-state.js"
import type { Job, Sweep } from "./scheduler.js"
import type { SlotLimits } from "./slots.js"
import { Worker } from "./worker.js"

/** What a kind of durable work is: where it stands on its row, and what a worker does. */
export interface WorkDeclaration<T extends CompanyOwned, Input> {
  /** The job that wakes it, called like its file. */
  name: string
  entity: EntityClass<T>
  /** The property of the entity that holds its `workState`. */
  columns: { [Key in keyof T]: T[Key] extends WorkState ? Key : never }[keyof T] & string
  /** How long a worker is believed to live after its last renewal, how often it renews, and how many losses of a worker are too many. */
  lease: { ms: number; renewMs: number; losses?: { most: number; reason: string } }
  /** How failed work is tried again; as a function, null leaves it as due as the row says. */
  retry: Retry | ((row: T, failure: Failure) => Retry | null)
  slots: SlotLimits
  /** How often what a crash or a lost wake-up left behind is looked for. */
  sweepSeconds: number
  /** Reads what the run needs, in the transaction that claims the row; null when there is nothing to do after all. */
  claim(tx: RequestContext, row: T, runId: string): Promise<Input | null> | Input | null
  /** Does the work outside of any transaction, and stores its result with `lease.store()`; without a result it is taken again when its lease is over. */
  run(lease: Lease<T>, input: Input): Promise<unknown>
  /** Logs what went wrong, and says what it means for the next try. */
  failure(context: RequestContext, error: unknown, input: Input): Failure
  /** Writes that it is not tried again. */
  giveUp(row: T, failure: Failure, context: RequestContext): void
  /** Something besides the run that a result must agree with. */
  holds?(row: T, runId: string): boolean
  /** Puts the row back as it was before the run, which failed or is given to another instance. */
  undo?(row: T, outcome: "failed" | "released"): void
  /** Writes what a run cost, in the transaction that ends it, also when the work was taken away. */
  cost?(tx: RequestContext, input: Input): Promise<void>
}

/** How much of a kind of work there is, in all companies. */
export interface WorkCounts {
  /** Due now, and not running. */
  due: number
  /** Due for longer than a sweep takes to find it. */
  overdue: number
  running: number
  /** Failed, and waiting for the next try. */
  failed: number
  /** Since when the oldest is due. */
  oldest: Date | null
}

/** A kind of durable work: a job on one row, a sweep over all, and what there is to count. */
export interface Work extends Job {
  sweep: Sweep
  counts(services: Services): Promise<WorkCounts>
  /** How much of it this instance runs. */
  running(services: Services): number
}

/** Declares a kind of durable work: due time, claim, lease, fence, retry, release and sweep are the same for every kind. */
export function defineWork<T extends CompanyOwned, Input>(declared: WorkDeclaration<T, Input>): Work {
  const workers = new WeakMap<Services, Worker<T, Input>>()
  const workerOf = (services: Services) => {
    const worker = workers.get(services) ?? new Worker(services, declared)
    workers.set(services, worker)
    return worker
  }
  const { name, sweepSeconds } = declared
  return {
    name,
    run: async (services, companyId, id) => void (await workerOf(services).begin(companyId, id, LockMode.PESSIMISTIC_WRITE)),
    sweep: { name: `${name}-sweep`, everySeconds: sweepSeconds, run: (services) => workerOf(services).sweep() },
    counts: (services) => workerOf(services).counts(),
    running: (services) => workerOf(services).slots.total,
  }
}
