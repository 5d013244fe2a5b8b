import type { Services } from "../../context/services.js"
import { clock } from "../../entities/kit/clock.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { Job, Sweep } from "./scheduler.js"
import type { WorkCounts, WorkDeclaration } from "./work-declaration.js"
import { Worker } from "./worker.js"

/** A kind of durable work: a job on one row, a sweep over all rows, and counts. */
export interface Work extends Job {
  sweep: Sweep
  counts(services: Services): Promise<WorkCounts>
  /** Number of items that this instance runs. */
  running(services: Services): number
}

/** Declares a kind of durable work; due time, claim, lease, fencing, retry, release and sweep are the same for every kind. */
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
    run: (services, companyId, id, dueAt = clock.now()) => workerOf(services).begin({ companyId, id, dueAt }),
    sweep: { name: `${name}-sweep`, everySeconds: sweepSeconds, isDetached: true, run: (services) => workerOf(services).sweep() },
    counts: (services) => workerOf(services).counts(),
    running: (services) => workerOf(services).slots.total,
  }
}
