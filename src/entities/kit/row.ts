import { Filter, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import type { OutputFrame } from "../message.js"
import { clock } from "./clock.js"
import { Timestamp, UUID } from "./scalars.js"
import type { WorkState } from "./work-state.js"

/** Something that happened and that the company's clients will hear of; becomes an event row in the same transaction. */
export interface DomainEvent {
  type: string
  companyId: string
  /** The chat whose subscribers hear of it; null for what belongs to no chat. */
  chatId: string | null
  /** The payload itself, or the type and the id of the row whose REST representation at commit is the payload. */
  payload: { value: unknown } | { row: string; id: string }
}

/** What else belongs to a change and is written in its transaction, messages through the one way in; answers the facts that it made. */
export type TransactionStep = (em: EntityManager, append: (frame: OutputFrame) => Promise<unknown>) => Promise<DomainEvent[]>

/** Work that becomes due on the row: the job's name is its file's name, the row's own column holds the time. */
export interface ScheduledJob {
  job: string
  companyId: string
  id: string
  at: Date
}

interface Effects {
  events: DomainEvent[]
  steps: TransactionStep[]
  jobs: ScheduledJob[]
}

// Beside the rows and not on them: the mapper makes rows without running their constructor.
const notes = new WeakMap<Row, Effects>()
const unseen = new WeakSet<Row>()

function effectsOf(row: Row): Effects {
  const noted = notes.get(row) ?? { events: [], steps: [], jobs: [] }
  notes.set(row, noted)
  return noted
}

/** Hands over what a row noted since the last time, once. */
export function takeEffects(row: Row): Effects | undefined {
  const noted = notes.get(row)
  notes.delete(row)
  return noted
}

/** What every stored noun has: an id that sorts by time (UUID v7) and two timestamps. */
@ObjectType()
export abstract class Row {
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Field(() => Timestamp, { description: "Time of creation." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()

  @Field(() => Timestamp, { description: "Time of the last change." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", onUpdate: (row: Row) => (unseen.has(row) ? row.updatedAt : clock.now()) })
  updatedAt: Date = new Date(this.createdAt)

  /** Notes a fact; the unit of work makes it an event when it commits. */
  protected emit(fact: DomainEvent) {
    effectsOf(this).events.push(fact)
  }

  /** Notes that a job is due; it is scheduled after the commit. */
  protected schedule(wake: ScheduledJob) {
    effectsOf(this).jobs.push(wake)
  }

  /** Notes what else must be written with this change. */
  protected alsoInTransaction(consequence: TransactionStep) {
    effectsOf(this).steps.push(consequence)
  }

  /** Changes of the columns that workers use do not move `updatedAt`. */
  changesUnseen() {
    unseen.add(this)
  }

  /** Something changes that people see: `updatedAt` moves after all. */
  protected changesSeen() {
    unseen.delete(this)
  }
}

/** A row that belongs to one company; every read of it is limited to the companies of its context, or throws. */
@ObjectType()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export abstract class CompanyOwned extends Row {
  @Field(() => UUID, { description: "ID of the company that owns this object." })
  @Property({ type: "uuid" })
  companyId!: string

  /** Work on this row is due at a time; its job is woken then. */
  expectWork(work: WorkState, at: Date) {
    work.dueAt = at
    this.schedule({ job: work.job, companyId: this.companyId, id: this.id, at })
  }
}
