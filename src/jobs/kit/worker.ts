import { setImmediate as afterIo } from "node:timers/promises"
import { type FilterQuery, LockMode } from "@mikro-orm/postgresql"
import { v7 } from "uuid"
import { Lease, LeaseLost } from "../../context/lease.js"
import { type RequestContext, workContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import { unscoped } from "../../database/unscoped.js"
import { clock } from "../../entities/kit/clock.js"
import type { CompanyOwned } from "../../entities/kit/row.js"
import type { DueRow, Failure, WorkState } from "../../entities/kit/work-state.js"
import { jobLimits } from "../limits.js"
import { Claims } from "./claims.js"
import { Renewals } from "./renewals.js"
import { Slots } from "./slots.js"
import type { WorkCounts, WorkDeclaration } from "./work-declaration.js"
import { type WorkStatements, workStatements } from "./work-statements.js"

/** A due row, found by a sweep or at its due time. */
interface Found extends Omit<DueRow, "runId"> {
  dueAt: Date
}

/** A due row that is being claimed. */
interface Due extends DueRow {
  dueAt: Date
  context: RequestContext
}

/** Runs a kind of work in one instance. */
export class Worker<T extends CompanyOwned, Input> {
  readonly slots: Slots
  private readonly statements: WorkStatements
  private readonly claims = new Claims<Due>((batch) => this.claimAll(batch))
  private readonly renewals: Renewals
  private sweeping = Promise.resolve()
  private nextSweep: Promise<void> | null = null

  constructor(
    private readonly services: Services,
    private readonly work: WorkDeclaration<T, Input>,
  ) {
    this.slots = new Slots(typeof work.slots === "function" ? work.slots(services.config) : work.slots)
    this.statements = workStatements(services.database.orm, work.name, work.entity, work.columns)
    this.renewals = new Renewals(work.lease.renewMs, (runs) => this.renew(runs), services.log)
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
    const { services, slots } = this
    // Tries each row once, in a long sweep once a second: rows that are locked by other transactions are left to them.
    let [tried, until] = [this.claims.ids, performance.now() + jobLimits.retryLockedMs]
    slots.beginSweep()
    while (!services.stopping.aborted) {
      if (slots.isFull()) return slots.awaitSweep()
      if (performance.now() > until) [tried, until] = [this.claims.ids, performance.now() + jobLimits.retryLockedMs]
      const { room, running } = slots
      const values = [clock.now(), tried, [...running.keys()], [...running.values()], room.company, room.free]
      const rows = await unscoped(services.database, this.statements.due, values)
      for (const { company_id: companyId } of rows) running.set(companyId, (running.get(companyId) ?? 0) + 1)
      await Promise.all(rows.map(({ company_id: companyId, id, since }) => this.take({ companyId, id, dueAt: new Date(since) })))
      tried.push(...rows.map(({ id }) => id))
      // Ends when all due work was seen, except that of companies without free slots, which waits.
      const atLimit = [...running].filter(([, count]) => count >= room.company).map(([companyId]) => companyId)
      if (rows.length < room.free && atLimit.every((companyId) => slots.isFull(companyId))) {
        for (const companyId of atLimit) slots.awaitSweep(companyId)
        return
      }
    }
  }

  /** Claims a row that became due and starts its work if a slot is free; otherwise a sweep finds it later. */
  async begin(found: Found): Promise<void> {
    const { slots } = this
    if (slots.mustWait(found.companyId)) return slots.awaitSweep(found.companyId)
    await this.take(found)
  }

  private async take(found: Found): Promise<void> {
    const { services, slots, work } = this
    const { companyId, id } = found
    if (services.stopping.aborted) return
    if (slots.isFull(companyId)) return slots.awaitSweep(companyId)
    slots.take(companyId)
    const key = `${work.entity.name.charAt(0).toLowerCase()}${work.entity.name.slice(1)}Id`
    const context = workContext(services, companyId, work.name, services.log.child({ [key]: id }))
    await this.claims.add({ ...found, runId: v7(), context })
  }

  /** Claims rows together where that is possible, the others one by one, and starts their work. */
  private async claimAll(batch: Due[]): Promise<void> {
    // Another instance takes what this one did not begin.
    if (this.services.stopping.aborted) return batch.forEach(({ companyId }) => void this.release(companyId))
    const { claimed, left } = await this.claimAtOnce(batch)
    for (const due of batch.filter(({ id }) => !left.has(id))) {
      this.start(due, claimed.get(due.runId) ?? null)
      // Requests are served between the starts of a batch.
      await afterIo()
    }
    for (const due of batch.filter(({ id }) => left.has(id))) this.start(due, await this.logged([due], this.claim(due), null))
  }

  /** Starts claimed work; without an input only its slot is freed. */
  private start(due: Due, input: Input | null) {
    if (input === null) return this.release(due.companyId)
    const { services, work } = this
    services.metrics.workWait.observe({ kind: work.name }, Math.max(0, clock.now().getTime() - due.dueAt.getTime()) / 1000)
    void this.services.running.add(this.perform(due, input).finally(() => this.release(due.companyId)))
  }

  private claimAtOnce(batch: Due[]): Promise<{ claimed: Map<string, Input>; left: Set<string> }> {
    const all = { claimed: new Map<string, Input>(), left: new Set(batch.map(({ id }) => id)) }
    if (!this.work.claimAtOnce) return Promise.resolve(all)
    return this.logged(batch, this.work.claimAtOnce(this.services, batch), { ...all, left: new Set<string>() })
  }

  /** The result of a claim; `otherwise` when it fails, which a sweep repeats. */
  private logged<R>(batch: Due[], claiming: Promise<R>, otherwise: R): Promise<R> {
    return claiming.catch((error) => {
      this.services.log.error({ err: error, job: this.work.name, ids: batch.map(({ id }) => id) }, "due work could not be claimed")
      return otherwise
    })
  }

  /** Frees a slot; work that waited for one starts at once. */
  private release(companyId: string) {
    this.slots.release(companyId)
    if (this.slots.areWorthASweep) void this.services.running.add(this.sweep())
  }

  /**
   * Claims the work in a short transaction: locks the row, checks it again, and starts the lease. A row that is locked is left to the next
   * sweep, because other claims wait for this one.
   */
  private claim({ context, id, runId }: Due): Promise<Input | null> {
    const { entity, lease, claim } = this.work
    const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE
    return context.transaction(async (tx) => {
      const row = (await tx.em.findOne(entity, { id } as FilterQuery<T>, { lockMode } as object)) as T | null
      if (!row || !this.stateOf(row).isDue(clock.now())) return null
      const input = (await this.isLostTooOften(row, tx)) ? null : await claim(tx, row, runId)
      if (input === null) this.stateOf(row).cancel()
      else this.stateOf(row).begin(runId, clock.now(), lease.ms)
      return input
    })
  }

  /** Counts a lost worker; gives up after the declared number of losses. */
  private async isLostTooOften(row: T, tx: RequestContext): Promise<boolean> {
    const { lease, giveUp } = this.work
    const state = this.stateOf(row)
    if (!lease.losses || !state.runId) return false
    state.failures += 1
    if (state.failures < lease.losses.most) return false
    await giveUp(row, lease.losses, tx)
    return true
  }

  /** Runs claimed work to its end: its result is stored, it is released because the process stops, it is retried, or it fails. */
  private async perform(due: Due, input: Input): Promise<void> {
    const { context, runId } = due
    const { stopping } = this.services
    const { run, failure } = this.work
    const lease = this.leaseOn(due, input)
    this.renewals.add({ ...due, lease })
    try {
      stopping.throwIfAborted()
      await run(lease, input)
    } catch (error) {
      if (stopping.aborted) await lease.store((row) => this.giveBack(row))
      else {
        const isLost = lease.isLost || error instanceof LeaseLost
        const what = isLost ? { reason: "It was taken away" } : failure(context, error, input)
        await lease.store((row, tx) => this.fail(row, what, tx))
      }
    } finally {
      this.renewals.remove(runId)
    }
  }

  private leaseOn({ context, id, runId }: Due, input: Input): Lease<T> {
    const { entity, holds, cost } = this.work
    return new Lease<T>(context, id, {
      entity,
      holds: (row) => (holds ? holds(row, runId) : this.stateOf(row).holds(runId)),
      always: (tx) => cost?.(tx, input),
      end: (row) => this.end(row, runId),
    })
  }

  private async renew(runs: DueRow[]): Promise<Set<string>> {
    const until = new Date(clock.now().getTime() + this.work.lease.ms)
    const rows = [runs.map(({ id }) => id), runs.map(({ companyId }) => companyId), runs.map(({ runId }) => runId)]
    const held = await unscoped(this.services.database, this.statements.renew, [until, ...rows])
    return new Set(held.map((row) => row.run_id))
  }

  /** Ends the work unless its result did; schedules again work that became due during the run, whose job found the row running. */
  private end(row: T, runId: string) {
    const state = this.stateOf(row)
    if (state.holds(runId)) state.end()
    if (state.dueAt) row.expectWork(state, state.dueAt)
  }

  private giveBack(row: T) {
    this.work.undo?.(row, "released")
    this.stateOf(row).releaseRun()
    this.stateOf(row).dueAt = clock.now()
  }

  private async fail(row: T, failure: Failure, tx: RequestContext) {
    const { retry, undo, giveUp } = this.work
    undo?.(row, "failed")
    const schedule = typeof retry === "function" ? retry(row, failure) : retry
    if (schedule && !this.stateOf(row).fail(clock.now(), schedule, failure)) {
      await giveUp(row, failure, tx)
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
