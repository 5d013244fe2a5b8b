import type { EntityManager } from "@mikro-orm/postgresql"
import { Event } from "../entities/event.js"
import { type DomainEvent, Row, type ScheduledJob, takeEffects } from "../entities/kit/row.js"
import type { OutputFrame } from "../entities/kit/tool-frames.js"
import { AuditTrail, type Origin } from "./audit-trail.js"
import { constraintError } from "./conflicts.js"
import type { Database } from "./connect.js"
import { transactionConnection } from "./kit/transaction-connection.js"
import { readModelOf, type Selection } from "./read-model.js"
import { Reader } from "./reader.js"
import { runQuery } from "./run-query.js"
import { storedSnapshot } from "./snapshot.js"
import type { Tables } from "./tables.js"

/** The companies in reach of a change, and where it comes from. */
export interface Scope extends Origin {
  companyIds: string[]
}

/** The work to do after the commit. */
export interface AfterCommit {
  /** Whether event rows were written. */
  events: boolean
  /** Whether AI control of a chat changed. */
  aiControlChanged: boolean
  jobs: ScheduledJob[]
}

/** A prepared statement of a hot path; each connection plans it once, by its name. `R` is the type of its rows. */
export interface Statement<R = Record<string, unknown>> {
  name: string
  text: string
  /** The jobs to schedule after the commit for a returned row. */
  jobs?(row: R): ScheduledJob[]
  /** Never set; it only carries the type. */
  row?: R
}

/** Functions of other folders that a unit of work calls. */
export interface UnitServices {
  /** The selection of a type's REST representation, which is the payload of its events. */
  snapshotOf(type: string): Selection
  /** Loads the read models, in a process that has not loaded them yet. */
  loadReadModels?(): Promise<unknown>
  /** Appends a message to a chat in the transaction. */
  append(unit: UnitOfWork, frame: OutputFrame): Promise<unknown>
}

/** Returns an EntityManager that is limited to these companies. */
export function scopedManager(database: Database, companyIds: string[]): EntityManager {
  const em = database.orm.em.fork() as EntityManager
  em.setFilterParams("company", { ids: companyIds })
  return em
}

/** One transaction: a scoped EntityManager that also stores the events of its rows. */
export class UnitOfWork {
  readonly em: EntityManager
  readonly audit: AuditTrail
  readonly afterCommit: AfterCommit = { events: false, aiControlChanged: false, jobs: [] }
  /** Payloads that get the snapshot of a row at commit. */
  private readonly pendingSnapshots: { target: { payload: unknown }; type: string; id: string }[] = []
  private readonly emitted = new Set<string>()
  #reader?: Reader

  constructor(
    readonly database: Database,
    readonly scope: Scope,
    private readonly services: UnitServices,
    private readonly mediaUrl?: (id: string) => string,
  ) {
    this.em = scopedManager(database, scope.companyIds)
    this.audit = new AuditTrail(this.em, scope)
  }

  /** Planned reads in the transaction. */
  get reader(): Reader {
    const { orm } = this.database
    const sql = this.em.getKysely<Tables>()
    this.#reader ??= new Reader(orm, sql, this.scope.companyIds, transactionConnection(sql), this.mediaUrl)
    return this.#reader
  }

  /** Runs a statement in the transaction. */
  async run<R = Record<string, unknown>>({ text, jobs }: Pick<Statement<R>, "text" | "jobs" | "row">, values: unknown[]): Promise<R[]> {
    const rows = await runQuery<R>(this.reader, { sql: text, parameters: values })
    if (jobs) this.afterCommit.jobs.push(...rows.flatMap(jobs))
    return rows
  }

  /** Records that a statement wrote event rows itself. */
  wroteEvents() {
    this.afterCommit.events = true
  }

  /** Writes all pending changes, their transaction steps and their events, in order. */
  async flush(): Promise<void> {
    if (await this.emitEvents()) await this.em.flush()
  }

  /** Writes the last changes, and the snapshots of events as the rows will be committed. */
  async finish(): Promise<void> {
    await this.emitEvents()
    for (const { target, type, id } of this.pendingSnapshots) target.payload = await this.snapshot(type, id)
    await this.em.flush()
  }

  /** Schedules a snapshot of a row at commit for a payload. */
  snapshotAtCommit(target: { payload: unknown }, type: string, id: string) {
    this.pendingSnapshots.push({ target, type, id })
  }

  /** Stores the events that rows have emitted since the last call; returns whether there were any. */
  private async emitEvents(): Promise<boolean> {
    const emitted = (await this.flushAndCollect()).filter((event) => this.isFirst(event))
    for (const { type, companyId, chatId, payload } of emitted) {
      const event = Object.assign(new Event(), { type, companyId, chatId, payload: {} })
      if ("value" in payload) event.payload = payload
      else this.snapshotAtCommit(event, payload.row, payload.id)
      this.em.persist(event)
      this.afterCommit.events = true
      if (type === "CHAT_MODE_CHANGED") this.afterCommit.aiControlChanged = true
    }
    return emitted.length > 0
  }

  /** Whether an event is the first of its type for its row: a row that changes twice emits one event, and a created row emits no change. */
  private isFirst({ type, payload }: DomainEvent): boolean {
    if ("value" in payload) return true
    const key = `${type} ${payload.id}`
    if (this.emitted.has(key) || (type === "CHAT_UPDATED" && this.emitted.has(`CHAT_CREATED ${payload.id}`))) return false
    this.emitted.add(key)
    return true
  }

  /** Flushes, and collects the events of the touched rows. */
  private async flushAndCollect(): Promise<DomainEvent[]> {
    const rows = this.touchedRows()
    await this.em.flush()
    const events: DomainEvent[] = []
    for (const row of rows) {
      const effects = takeEffects(row)
      if (!effects) continue
      events.push(...effects.events)
      this.afterCommit.jobs.push(...effects.jobs)
      for (const step of effects.steps) events.push(...(await step(this.em, (frame) => this.services.append(this, frame))))
    }
    return events
  }

  private touchedRows(): Row[] {
    const work = this.em.getUnitOfWork()
    const all = new Set([...work.getIdentityMap().values(), ...work.getPersistStack(), ...work.getRemoveStack()])
    return [...all].filter((row): row is Row => row instanceof Row)
  }

  private async snapshot(type: string, id: string) {
    await this.services.loadReadModels?.()
    const row = await this.reader.byId(readModelOf(type)!, id, this.services.snapshotOf(type))
    return storedSnapshot(type, row)
  }
}

/** Runs a unit of work and commits it; rolls back when it throws. */
export async function commitUnit<T>(unit: UnitOfWork, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  await unit.em.begin()
  try {
    const result = await work(unit)
    await unit.finish()
    await unit.em.commit()
    return result
  } catch (error) {
    await unit.em.rollback()
    throw constraintError(error)
  }
}
