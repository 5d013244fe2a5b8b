import type { EntityManager } from "@mikro-orm/postgresql"
import { CompiledQuery } from "kysely"
import { type Actor } from "../entities/control-change.js"
import { Event } from "../entities/event.js"
import { type Fact, Row, takeNotes, type Wake } from "../entities/kit/row.js"
import { meaningOf } from "./conflicts.js"
import type { Database, Sql } from "./connect.js"
import { Reader } from "./reader.js"
import { type PlainRow, type Selection, sourceOf } from "./source.js"

/** Who works, and on which companies. */
export interface Scope {
  companyIds: string[]
  actor: Actor
}

/** What a unit leaves behind for the world outside the database, told after the commit. */
export interface Aftermath {
  /** Whether event rows were written. */
  events: boolean
  wakes: Wake[]
}

/** A prepared statement of a hot path: planned once per connection, by its name. */
export interface Statement {
  name: string
  text: string
}

/** The one place where a scope is put on an EntityManager; a read without it throws. */
export function scopedManager(database: Database, companyIds: string[]): EntityManager {
  const em = database.orm.em.fork() as EntityManager
  em.setFilterParams("company", { ids: companyIds })
  return em
}

/** One change: one scoped EntityManager, one transaction, and the facts that its rows noted as event rows in it. */
export class Unit {
  readonly em: EntityManager
  readonly aftermath: Aftermath = { events: false, wakes: [] }
  #reader?: Reader

  constructor(
    readonly database: Database,
    readonly scope: Scope,
    /** What the REST representation of a row selects; the payload of its events. */
    private readonly snapshotOf: (type: string) => Selection,
  ) {
    this.em = scopedManager(database, scope.companyIds)
  }

  /** Reads inside the transaction. */
  get reader(): Reader {
    this.#reader ??= new Reader(this.database.orm, this.em.getKysely() as unknown as Sql, this.scope.companyIds)
    return this.#reader
  }

  /** Runs a statement inside the transaction. */
  async run(statement: Statement, values: unknown[]): Promise<PlainRow[]> {
    const result = await this.reader.sql.executeQuery<PlainRow>(CompiledQuery.raw(statement.text, values))
    return result.rows
  }

  /** Says that a statement wrote event rows by itself. */
  wroteEvents() {
    this.aftermath.events = true
  }

  /** Says that a job is due that no row noted. */
  wakes(wake: Wake) {
    this.aftermath.wakes.push(wake)
  }

  /** Writes everything that is pending, with what it entails and the events of what it noted. */
  async settle(): Promise<void> {
    const rows = this.touchedRows()
    await this.em.flush()
    const facts: Fact[] = []
    for (const row of rows) {
      const notes = takeNotes(row)
      if (!notes) continue
      facts.push(...notes.facts)
      this.aftermath.wakes.push(...notes.wakes)
      for (const consequence of notes.consequences) facts.push(...(await consequence(this.em)))
    }
    if (facts.length === 0) return
    for (const fact of unrepeated(facts)) this.em.persist(await this.eventOf(fact))
    await this.em.flush()
    this.aftermath.events = true
  }

  private touchedRows(): Row[] {
    const work = this.em.getUnitOfWork()
    const all = new Set([...work.getIdentityMap().values(), ...work.getPersistStack(), ...work.getRemoveStack()])
    return [...all].filter((row): row is Row => row instanceof Row)
  }

  private async eventOf(fact: Fact): Promise<Event> {
    const event = new Event()
    Object.assign(event, { type: fact.type, companyId: fact.companyId, chatId: fact.chatId })
    event.payload = "value" in fact.payload ? fact.payload : await this.snapshot(fact.payload.row, fact.payload.id)
    return event
  }

  private async snapshot(type: string, id: string) {
    const selection = this.snapshotOf(type)
    const [row] = await this.reader.list(sourceOf(type)!, selection, (query) => query.where("t.id", "=", id))
    return { [type.toLowerCase()]: row ?? null }
  }
}

/** A row that changed twice in a unit is told once: its representation is the one at commit. */
function unrepeated(facts: Fact[]): Fact[] {
  const seen = new Set<string>()
  const told = facts.filter((fact) => {
    if ("value" in fact.payload) return true
    const key = `${fact.type} ${fact.payload.id}`
    return !seen.has(key) && seen.add(key)
  })
  // A creation or a deletion already says everything that an update would.
  const covered = new Set(told.filter((fact) => /^CHAT_(CREATED|DELETED)$/.test(fact.type)).map((fact) => fact.chatId))
  return told.filter((fact) => fact.type !== "CHAT_UPDATED" || !covered.has(fact.chatId))
}

/** Runs a unit of work and commits it; what it throws undoes all of it. */
export async function runUnit<T>(unit: Unit, work: (unit: Unit) => Promise<T>): Promise<T> {
  await unit.em.begin()
  try {
    const result = await work(unit)
    await unit.settle()
    await unit.em.commit()
    return result
  } catch (error) {
    await unit.em.rollback()
    throw meaningOf(error)
  }
}
