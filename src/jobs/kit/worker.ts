import { type FilterQuery, LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { Lease, LeaseLost } from "../../context/lease.js"
import { type RequestContext, systemContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import { unscoped } from "../../database/unscoped.js"
import { clock } from "../../entities/kit/clock.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { Failure, WorkState } from "../../entities/kit/work-state.js"
import { Slots } from "./slots.js"
import type { WorkCounts, WorkDeclaration } from "./work.js"
import { type WorkStatements, workStatements } from "./work-statements.js"

/** Runs a kind of work in one instance. */
export class Worker<T extends CompanyOwned, Input> {
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

  /** Starts due work while slots are free; concurrent calls share one further sweep. */
  sweep(): Promise<void> {
    this.nextSweep ??= this.sweeping.then(() => {
      this.nextSweep = null
      this.sweeping = this.services.running.add(this.takeDue())
      return this.sweeping
    })
    return this.nextSweep
  }

  private async takeDue(): Promise<void> {
    const { services, slots, work } = this
    // Tries each row once: rows that are locked by other transactions are left to them.
    const tried: string[] = []
    while (!services.stopping.aborted && !slots.mustWait()) {
      const { free, running } = slots
      const values = [clock.now(), tried, [...running.keys()], [...running.values()], slots.limits.company, free]
      const rows = await unscoped(services.database, this.statements.due, values)
      for (const { company_id: companyId } of rows) running.set(companyId, (running.get(companyId) ?? 0) + 1)
      await Promise.all(
        rows.map(({ company_id: companyId, id }) =>
          this.begin(companyId, id, LockMode.PESSIMISTIC_PARTIAL_WRITE).catch((error) =>
            services.log.error({ err: error, job: work.name, id }, "due work could not be claimed"),
          ),
        ),
      )
      tried.push(...rows.map(({ id }) => id))
      // Ends when all due work was seen, except that of companies without free slots, which waits.
      const companiesAtLimit = [...running].filter(([, count]) => count >= slots.limits.company)
      if (rows.length < free && companiesAtLimit.every(([companyId]) => slots.mustWait(companyId))) return
    }
  }

  /** Claims a due row and starts its work if a slot is free; otherwise a sweep finds it later. */
  async begin(companyId: string, id: string, lock: LockMode): Promise<void> {
    const { services, slots, work } = this
    if (services.stopping.aborted || slots.mustWait(companyId)) return
    slots.take(companyId)
    const key = `${work.entity.name.charAt(0).toLowerCase()}${work.entity.name.slice(1)}Id`
    const context = systemContext(services, companyId, services.log.child({ [key]: id }))
    const run = await this.claim(context, id, lock).catch((error) => {
      slots.release(companyId)
      throw error
    })
    if (!run) return slots.release(companyId)
    const performing = this.perform(context, id, run).finally(() => {
      slots.release(companyId)
      // Work that waited for a slot starts at once.
      if (slots.consumeWaiting()) void services.running.add(this.sweep())
    })
    void services.running.add(performing)
  }

  /** Claims the work in a short transaction: locks the row, checks it again, and starts the lease. */
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

  /** Counts a lost worker; gives up after the declared number of losses. */
  private isLostTooOften(row: T, context: RequestContext): boolean {
    const { lease, giveUp } = this.work
    const state = this.stateOf(row)
    if (!lease.losses || !state.runId) return false
    state.failures += 1
    if (state.failures < lease.losses.most) return false
    giveUp(row, lease.losses, context)
    return true
  }

  /** Runs claimed work to its end: its result is stored, it is released because the process stops, it is retried, or it fails. */
  private async perform(context: RequestContext, id: string, { runId, input }: { runId: string; input: Input }): Promise<void> {
    const { stopping } = this.services
    const { run, failure } = this.work
    const lease = this.leaseOn(context, id, runId, input)
    try {
      stopping.throwIfAborted()
      await run(lease, input)
    } catch (error) {
      if (stopping.aborted) await lease.store((row) => this.release(row))
      else {
        const isLost = lease.isLost || error instanceof LeaseLost
        const what = isLost ? { reason: "It was taken away" } : failure(context, error, input)
        await lease.store((row) => this.fail(row, what, context))
      }
    } finally {
      lease.stop()
    }
  }

  private leaseOn(context: RequestContext, id: string, runId: string, input: Input): Lease<T> {
    const { entity, lease, holds, cost } = this.work
    return new Lease<T>(context, id, {
      entity,
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

  /** Ends the work unless its result did; schedules again work that became due during the run, whose job found the row running. */
  private end(row: T, runId: string) {
    const state = this.stateOf(row)
    if (state.holds(runId)) state.end()
    if (state.dueAt) row.expectWork(state, state.dueAt)
  }

  private release(row: T) {
    this.work.undo?.(row, "released")
    this.stateOf(row).releaseRun()
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
