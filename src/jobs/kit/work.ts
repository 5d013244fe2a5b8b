import { type EntityClass, type FilterQuery, LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { Lease, LeaseLost } from "../../context/lease.js"
import { type RequestContext, systemContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import { unscoped } from "../../database/unscoped.js"
import { clock } from "../../entities/kit/clock.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { Failure, Retry, WorkState } from "../../entities/kit/work-state.js"
import type { Job, Sweep } from "./scheduler.js"
import { type SlotLimits, Slots } from "./slots.js"
import { type WorkStatements, workStatements } from "./work-statements.js"

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
    running: (services) => workerOf(services).slots.running,
  }
}

/** What one instance does of a kind of work. */
class Worker<T extends CompanyOwned, Input> {
  readonly slots: Slots
  private readonly statements: WorkStatements
  private sweeping = Promise.resolve()
  private nextSweep: Promise<void> | null = null

  constructor(
    private readonly services: Services,
    private readonly work: WorkDeclaration<T, Input>,
  ) {
    this.slots = new Slots(work.slots)
    this.statements = workStatements(services.database.orm, work.name, work.entity, work.columns)
  }

  private stateOf(row: T): WorkState {
    return row[this.work.columns] as WorkState
  }

  /** Takes what is due, as much as there are slots; calls meanwhile share one further look. */
  sweep(): Promise<void> {
    this.nextSweep ??= this.sweeping.then(() => {
      this.nextSweep = null
      this.sweeping = this.services.running.add(this.takeDue())
      return this.sweeping
    })
    return this.nextSweep
  }

  private async takeDue(): Promise<void> {
    const { services, slots } = this
    // Each row once: what another instance is just taking, or somebody writes to, is left to them.
    const tried: string[] = []
    while (!services.stopping.aborted && slots.free > 0) {
      const wanted = slots.free
      const values = [clock.now(), tried, ...slots.companies, slots.limits.company, wanted]
      const rows = await unscoped(services.database, this.statements.due, values)
      await Promise.all(
        rows.map((row) =>
          this.begin(row["company_id"], row["id"], LockMode.PESSIMISTIC_PARTIAL_WRITE).catch((error) =>
            services.log.error({ err: error, job: this.work.name, id: row["id"] }, "due work could not be claimed"),
          ),
        ),
      )
      if (rows.length < wanted) return
      tried.push(...rows.map((row) => row["id"]))
    }
  }

  /** Claims a row and begins its work, if it is due and there is a slot; otherwise a sweep, or the end of other work, finds it again. */
  async begin(companyId: string, id: string, lock: LockMode): Promise<void> {
    const { services, slots, work } = this
    if (services.stopping.aborted || !slots.take(companyId)) return
    const key = `${work.entity.name.charAt(0).toLowerCase()}${work.entity.name.slice(1)}Id`
    const context = systemContext(services, companyId, services.log.child({ [key]: id }))
    const run = await this.claim(context, id, lock).catch((error) => {
      this.giveSlot(companyId)
      throw error
    })
    if (!run) return this.giveSlot(companyId)
    const performing = this.perform(context, id, run).finally(() => this.giveSlot(companyId))
    // What was taken away may be due in another form: its wake-up may have found no slot but this one.
    void services.running.add(performing.then((isOurs) => (isOurs ? undefined : this.begin(companyId, id, lock))))
  }

  /** What waited for the slot is taken at once. */
  private giveSlot(companyId: string) {
    if (this.slots.give(companyId)) void this.services.running.add(this.sweep())
  }

  /** One short transaction: the row is locked, looked at again, and given to this worker under a lease. */
  private claim(context: RequestContext, id: string, lockMode: LockMode): Promise<{ runId: string; input: Input } | null> {
    const { entity, lease, claim } = this.work
    return context.transaction(async (tx) => {
      const row = (await tx.em.findOne(entity, { id } as FilterQuery<T>, { lockMode } as object)) as T | null
      if (!row || !this.stateOf(row).isDue(clock.now())) return null
      const runId = v7()
      const input = this.isLostTooOften(row, context) ? null : await claim(tx, row, runId)
      if (input === null) this.stateOf(row).cancel()
      else this.stateOf(row).begin(runId, clock.now(), lease.ms)
      return input === null ? null : { runId, input }
    })
  }

  /** Counts a worker that was lost, where the declaration says how many are too many. */
  private isLostTooOften(row: T, context: RequestContext): boolean {
    const { lease, giveUp } = this.work
    const state = this.stateOf(row)
    if (!lease.losses || !state.runId) return false
    state.failures += 1
    if (state.failures < lease.losses.most) return false
    giveUp(row, lease.losses, context)
    return true
  }

  /** Runs claimed work to its end: stored, given back because the process stops, to be tried again, or given up; false when it was taken away. */
  private async perform(context: RequestContext, id: string, { runId, input }: { runId: string; input: Input }): Promise<boolean> {
    const { stopping } = this.services
    const { run, failure } = this.work
    const lease = this.leaseOn(context, id, runId, input)
    try {
      stopping.throwIfAborted()
      await run(lease, input)
      return lease.isOurs
    } catch (error) {
      if (stopping.aborted) return await lease.store((row) => this.release(row))
      const isLost = !lease.isOurs || error instanceof LeaseLost
      const what = isLost ? { reason: "It was taken away" } : failure(context, error, input)
      return await lease.store((row) => this.fail(row, what, context))
    } finally {
      lease.stop()
    }
  }

  private leaseOn(context: RequestContext, id: string, runId: string, input: Input): Lease<T> {
    const { entity, lease, holds, cost } = this.work
    return new Lease<T>({
      context,
      entity,
      id,
      runId,
      renewMs: lease.renewMs,
      renew: async () => {
        const until = new Date(clock.now().getTime() + lease.ms)
        return (await context.statement(this.statements.renew, [until, id, context.companyIds, runId])).length > 0
      },
      holds: (row) => (holds ? holds(row, runId) : this.stateOf(row).holds(runId)),
      always: (tx) => cost?.(tx, input),
      end: (row) => this.end(row, runId),
    })
  }

  /** Ends the work unless the result did already; what became due meanwhile is woken again, since its wake-up found somebody at work. */
  private end(row: T, runId: string) {
    const state = this.stateOf(row)
    if (state.holds(runId)) state.end()
    if (state.dueAt) row.expectWork(state, state.dueAt)
  }

  private release(row: T) {
    this.work.undo?.(row, "released")
    this.stateOf(row).leave()
    this.stateOf(row).dueAt = clock.now()
  }

  private fail(row: T, failure: Failure, context: RequestContext) {
    const { retry, undo, giveUp } = this.work
    undo?.(row, "failed")
    const schedule = typeof retry === "function" ? retry(row, failure) : retry
    if (schedule && !this.stateOf(row).fail(clock.now(), schedule, failure)) {
      giveUp(row, failure, context)
      this.stateOf(row).end()
    }
  }

  async counts(): Promise<WorkCounts> {
    const now = clock.now()
    const sweptBy = new Date(now.getTime() - this.work.sweepSeconds * 1000)
    const [row] = await unscoped(this.services.database, this.statements.counts, [now, sweptBy])
    const { oldest, ...counts } = row as Omit<WorkCounts, "oldest"> & { oldest: string | null }
    return { ...counts, oldest: oldest === null ? null : new Date(oldest) }
  }
}
