import type { EntityManager } from "@mikro-orm/postgresql"
import type { Actor } from "../entities/control-change.js"
import { Event } from "../entities/event.js"
import { type DomainEvent, Row, type ScheduledJob, takeEffects } from "../entities/kit/row.js"
import type { OutputFrame } from "../entities/message.js"
import { meaningOf } from "./conflicts.js"
import type { Database } from "./connect.js"
import { inTransaction } from "./kit/in-transaction.js"
import { readModelOf, type Selection } from "./read-model.js"
import { Reader } from "./reader.js"
import { runQuery } from "./run-query.js"
import { storedSnapshot } from "./snapshot.js"
import type { Tables } from "./tables.js"

/** Who makes a change, and the companies in reach. */
export interface Scope {
  companyIds: string[]
  actor: Actor
}

/** What happens after the commit. */
export interface AfterCommit {
  /** Whether event rows were written. */
  events: boolean
  /** Whether AI control of a chat changed. */
  isTakeOver: boolean
  jobs: ScheduledJob[]
}

/** A prepared statement of a hot path: planned once per connection, by its name. `R` is the type of its rows. */
export interface Statement<R = Record<string, unknown>> {
  name: string
  text: string
  /** Never set: it carries the type alone. */
  row?: R
}

/** What a unit of work needs of the features above it. */
export interface UnitServices {
  /** What the REST representation of a type selects: the payload of its events. */
  snapshotOf(type: string): Selection
  /** Loads the read models by which rows are shown, where a process has not loaded them yet. */
  loadReadModels?(): Promise<unknown>
  /** Appends a message to a chat inside the unit. */
  append(unit: UnitOfWork, frame: OutputFrame): Promise<unknown>
}

/** Returns an EntityManager that sees only these companies; a read on one without companies throws. */
export function scopedManager(database: Database, companyIds: string[]): EntityManager {
  const em = database.orm.em.fork() as EntityManager
  em.setFilterParams("company", { ids: companyIds })
  return em
}

/** One transaction: a scoped EntityManager, and the domain events of its rows as event rows. */
export class UnitOfWork {
  readonly em: EntityManager
  readonly afterCommit: AfterCommit = { events: false, isTakeOver: false, jobs: [] }
  /** What shows a row as it is at commit. */
  private readonly shownLater: { target: { payload: unknown }; type: string; id: string }[] = []
  private readonly emitted = new Set<string>()
  #reader?: Reader

  constructor(
    readonly database: Database,
    readonly scope: Scope,
    private readonly services: UnitServices,
    private readonly mediaUrl?: (id: string) => string,
  ) {
    this.em = scopedManager(database, scope.companyIds)
  }

  /** Reads inside the transaction. */
  get reader(): Reader {
    const { orm } = this.database
    const sql = this.em.getKysely<Tables>()
    this.#reader ??= new Reader(orm, sql, this.scope.companyIds, inTransaction(sql), this.mediaUrl)
    return this.#reader
  }

  /** Runs a statement inside the transaction. */
  run<R = Record<string, unknown>>({ text }: { text: string; row?: R }, values: unknown[]): Promise<R[]> {
    return runQuery<R>(this.reader, { sql: text, parameters: values })
  }

  /** Notes that a statement has written event rows itself. */
  wroteEvents() {
    this.afterCommit.events = true
  }

  /** Writes all pending changes, their transaction steps and their events, in order. */
  async flush(): Promise<void> {
    if (await this.emitEvents()) await this.em.flush()
  }

  /** Settles for the last time: what events show of a row is what is committed. */
  async finish(): Promise<void> {
    await this.emitEvents()
    for (const { target, type, id } of this.shownLater) target.payload = await this.snapshot(type, id)
    await this.em.flush()
    if (this.emitted.size > 0) this.afterCommit.events = true
  }

  /** Writes a snapshot of a row at commit into a payload. */
  showAtCommit(target: { payload: unknown }, type: string, id: string) {
    this.shownLater.push({ target, type, id })
  }

  /** Writes the domain events that rows have emitted since the last call; returns whether there were any. */
  private async emitEvents(): Promise<boolean> {
    const facts = (await this.flushed()).filter((fact) => this.isFirst(fact))
    for (const fact of facts) {
      const event = new Event()
      Object.assign(event, { type: fact.type, companyId: fact.companyId, chatId: fact.chatId, payload: {} })
      if ("value" in fact.payload) event.payload = fact.payload
      else this.showAtCommit(event, fact.payload.row, fact.payload.id)
      this.em.persist(event)
      if (fact.type === "CHAT_MODE_CHANGED") this.afterCommit.isTakeOver = true
    }
    return facts.length > 0
  }

  /** Whether an event is the first of its kind for its row: a row that changes twice is one event, and a created row is not also changed. */
  private isFirst(fact: DomainEvent): boolean {
    if ("value" in fact.payload) return Boolean(this.emitted.add(fact.type))
    const key = `${fact.type} ${fact.payload.id}`
    if (this.emitted.has(key) || (fact.type === "CHAT_UPDATED" && this.emitted.has(`CHAT_CREATED ${fact.payload.id}`))) return false
    this.emitted.add(key)
    return true
  }

  /** Flushes, and takes the domain events of the rows that were touched. */
  private async flushed(): Promise<DomainEvent[]> {
    const rows = this.touchedRows()
    await this.em.flush()
    const facts: DomainEvent[] = []
    for (const row of rows) {
      const notes = takeEffects(row)
      if (!notes) continue
      facts.push(...notes.events)
      this.afterCommit.jobs.push(...notes.jobs)
      for (const consequence of notes.steps) facts.push(...(await consequence(this.em, (frame) => this.services.append(this, frame))))
    }
    return facts
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
export async function runInTransaction<T>(unit: UnitOfWork, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  await unit.em.begin()
  try {
    const result = await work(unit)
    await unit.finish()
    await unit.em.commit()
    return result
  } catch (error) {
    await unit.em.rollback()
    throw meaningOf(error)
  }
}
