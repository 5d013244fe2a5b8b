import { Filter, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./clock.js"
import { DateTime, UUID } from "./scalars.js"
import type { OutputFrame } from "./tool-frames.js"
import type { WorkState } from "./work-state.js"

/** A change that is reported to the company's clients; stored as an event row in the same transaction. */
export interface DomainEvent {
  type: string
  companyId: string
  /** The chat whose subscribers receive the event; null when the event concerns no chat. */
  chatId: string | null
  /** The payload itself, or the type and ID of a row whose REST representation at commit is the payload. */
  payload: { value: unknown } | { row: string; id: string }
}

/** Writes further rows in the transaction of a change, messages only through `append`; returns the events of these rows. */
export type TransactionStep = (em: EntityManager, append: (frame: OutputFrame) => Promise<unknown>) => Promise<DomainEvent[]>

/** A job that runs when work on a row is due; it is named like its file in jobs/, and the row stores the time. */
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

// Kept outside the rows, because MikroORM creates rows without running their constructor.
const effects = new WeakMap<Row, Effects>()
const keepsUpdatedAt = new WeakSet<Row>()

function effectsOf(row: Row): Effects {
  const recorded = effects.get(row) ?? { events: [], steps: [], jobs: [] }
  effects.set(row, recorded)
  return recorded
}

/** Returns the effects that a row recorded since the last call, and clears them. */
export function takeEffects(row: Row): Effects | undefined {
  const recorded = effects.get(row)
  effects.delete(row)
  return recorded
}

/** Base of stored objects: an ID that sorts by time (UUID v7) and two timestamps. */
@ObjectType()
export abstract class Row {
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Field(() => DateTime, { description: "Time of creation." })
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()

  @Field(() => DateTime, { description: "Time of the last change." })
  @Property({
    type: "datetime",
    columnType: "timestamptz(3)",
    onUpdate: (row: Row) => (keepsUpdatedAt.has(row) ? row.updatedAt : clock.now()),
  })
  updatedAt: Date = new Date(this.createdAt)

  /** Records an event; the unit of work stores it at commit. */
  protected emit(event: DomainEvent) {
    effectsOf(this).events.push(event)
  }

  /** Records a due job; it is scheduled after the commit. */
  protected schedule(job: ScheduledJob) {
    effectsOf(this).jobs.push(job)
  }

  /** Records a step that runs in the transaction of this change. */
  protected alsoInTransaction(step: TransactionStep) {
    effectsOf(this).steps.push(step)
  }

  /** Keeps `updatedAt` unchanged, for changes of columns that only workers use. */
  keepUpdatedAt() {
    keepsUpdatedAt.add(this)
  }

  /** Changes `updatedAt` after all, because clients see the change. */
  protected changeUpdatedAt() {
    keepsUpdatedAt.delete(this)
  }
}

/** A row of one company. Every read is limited to the companies of its context; a read without a context throws. */
@ObjectType()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export abstract class CompanyOwned extends Row {
  @Field(() => UUID, { description: "ID of the company that owns this object." })
  @Property({ type: "uuid" })
  companyId!: string

  /** Sets when work on this row is due, and schedules its job. */
  expectWork(work: WorkState, at: Date) {
    work.dueAt = at
    this.schedule({ job: work.job, companyId: this.companyId, id: this.id, at })
  }
}
