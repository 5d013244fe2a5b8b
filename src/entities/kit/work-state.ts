import { Embeddable, Property } from "@mikro-orm/decorators/legacy"

/** How often, and after which pauses, failed work is tried again. */
export interface Retry {
  /** Tries in all, the first one included. */
  tries: number
  /** The pause in milliseconds after so many failures in a row. */
  pauseMs(failures: number): number
  /** The largest random share that is added to a pause, so that what failed together is not tried together; none by default. */
  jitter?: number
}

/** Why a run failed, and what its error says about the next try. */
export interface Failure {
  /** A sentence for people. */
  reason: string
  /** Tries in all that this error is worth, the first one included, instead of those of the schedule; 1 gives up at once. */
  tries?: number
  /** The earliest next try that a vendor allows (`Retry-After`). */
  retryAfterMs?: number
}

/** Pauses that double with each failure, up to a longest one. */
export const doubling =
  (baseMs: number, maxMs = Number.POSITIVE_INFINITY): Retry["pauseMs"] =>
  (failures) =>
    Math.min(baseMs * 2 ** (failures - 1), maxMs)

/** A schedule of pauses given one by one, and as many tries as it has room for. */
export const listed = (pausesMs: readonly number[]): Retry => ({
  tries: pausesMs.length + 1,
  pauseMs: (failures) => pausesMs[failures - 1]!,
})

/** One kind of work on a row: when it is due, and who runs it. The row is the queue. */
export abstract class WorkState {
  /** The job that is woken when the work is due. */
  declare readonly job: string

  /** When the work is due; null while nothing waits. */
  dueAt: Date | null = null

  /** The running work, and the fence around it: the holder of another id may store nothing. */
  runId: string | null = null

  /** Until when the worker of the running work is believed to live. */
  leaseUntil: Date | null = null

  /** Failures in a row. */
  failures: number = 0

  /** Whether a worker may take it: it is due and nobody runs it, or the worker who ran it is gone. */
  isDue(now: Date): boolean {
    if (this.runId) return this.leaseUntil !== null && this.leaseUntil <= now
    return this.dueAt !== null && this.dueAt <= now
  }

  /** Gives it to a worker for the time of a lease. */
  begin(runId: string, now: Date, leaseMs: number) {
    this.runId = runId
    this.dueAt = null
    this.leaseUntil = new Date(now.getTime() + leaseMs)
  }

  /** The fence: whether this run may still store something. */
  holds(runId: string): boolean {
    return this.runId === runId
  }

  /** Takes the running work from its worker, who may store nothing from now on. */
  leave() {
    this.runId = this.leaseUntil = null
  }

  /** The work is done, and its failures are forgotten; what became due meanwhile stays due. */
  end() {
    this.leave()
    this.failures = 0
  }

  /** Nothing is due any more, and no running work may store anything. */
  cancel() {
    this.end()
    this.dueAt = null
  }

  /** Takes failed work from its worker and sets when it is tried again; false when it has been tried often enough. */
  fail(now: Date, retry: Retry, { tries = retry.tries, retryAfterMs = 0 }: Failure): boolean {
    this.leave()
    this.failures += 1
    if (this.failures >= tries) return false
    const pauseMs = retry.pauseMs(this.failures) * (1 + Math.random() * (retry.jitter ?? 0))
    this.dueAt = new Date(now.getTime() + Math.max(pauseMs, retryAfterMs))
    return true
  }
}

/** Declares where a row keeps a kind of work: the job that is woken, and the columns. */
export function workState(job: string, columns: { dueAt: string; runId: string; leaseUntil: string; failures: string }) {
  const Declared = { [`${job} state`]: class extends WorkState {} }[`${job} state`]!
  Object.defineProperty(Declared.prototype, "job", { value: job })
  const time = { type: "datetime", columnType: "timestamptz(3)", nullable: true } as const
  Property({ ...time, fieldName: columns.dueAt })(Declared.prototype, "dueAt")
  Property({ type: "uuid", nullable: true, fieldName: columns.runId })(Declared.prototype, "runId")
  Property({ ...time, fieldName: columns.leaseUntil })(Declared.prototype, "leaseUntil")
  Property({ type: "integer", default: 0, fieldName: columns.failures })(Declared.prototype, "failures")
  Embeddable()(Declared)
  return Declared
}
