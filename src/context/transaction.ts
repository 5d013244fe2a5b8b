import { commitUnit, type Scope, UnitOfWork } from "../database/unit-of-work.js"
import type { Services } from "./services.js"

/** Services that a transaction needs. */
type TransactionServices = Pick<Services, "database" | "append" | "snapshotOf" | "mediaUrls" | "sequencer" | "scheduler">

/** Runs a unit of work in one transaction; after its commit, the sequencer and the job scheduler are notified. */
export async function inTransaction<T>(services: TransactionServices, scope: Scope, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  const unit = new UnitOfWork(services.database, scope, services, (id) => services.mediaUrls.of(id))
  const result = await commitUnit(unit, work)
  const published = unit.afterCommit.events ? services.sequencer.poke() : null
  for (const job of unit.afterCommit.jobs) void services.scheduler.schedule(job)
  // A take-over returns only when all earlier events are published, so that no subscriber receives an answer of the assistant after it.
  if (unit.afterCommit.aiControlChanged) await published
  return result
}
