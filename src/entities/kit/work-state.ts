import { Embeddable, Property } from "@mikro-orm/decorators/legacy"

/** Retry schedule of failed work. */
export interface Retry {
  /** Maximum number of tries, the first one included. */
  tries: number
  /** Pause in milliseconds after a number of consecutive failures. */
  pauseMs(failures: number): number
  /** Largest random share that is added to a pause, so that work that failed together is not retried together; none by default. */
  jitter?: number
}

/** Why a run failed, and how the error changes the next try. */
export interface Failure {
  /** The reason, in a sentence that people can read. */
  reason: string
  /** Maximum number of tries for this error, instead of that of the schedule; 1 gives up at once. */
  tries?: number
  /** Shortest pause that a vendor demands (`Retry-After`). */
  retryAfterMs?: number
}

/** A row whose work is due, and the ID of the run that is to do it. */
export interface DueRow {
  id: string
  companyId: string
  runId: string
}

/** Pauses that double with each failure, up to a maximum. */
export const doubling =
  (baseMs: number, maxMs = Number.POSITIVE_INFINITY): Retry["pauseMs"] =>
  (failures) =>
    Math.min(baseMs * 2 ** (failures - 1), maxMs)

/** State of one kind of work on a row: when it is due, and which run holds it. The row is the queue. */
export abstract class WorkState {
  /** The job that runs when the work is due. */
  declare readonly job: string

  /** When the work is due; null when no work waits. */
  dueAt: Date | null = null

  /** ID of the run, which is also its fencing token: a run with another ID cannot store its result. */
  runId: string | null = null

  /** End of the lease, after which the worker counts as lost. */
  leaseUntil: Date | null = null

  /** Number of consecutive failures. */
  failures: number = 0

  /** Whether a worker may take the work: it is due and not running, or the lease of its worker has expired. */
  isDue(now: Date): boolean {
    if (this.runId) return this.leaseUntil !== null && this.leaseUntil <= now
    return this.dueAt !== null && this.dueAt <= now
  }

  /** Starts a run under a lease. */
  begin(runId: string, now: Date, leaseMs: number) {
    this.runId = runId
    this.dueAt = null
    this.leaseUntil = new Date(now.getTime() + leaseMs)
  }

  /** Whether this run may still store its result (fencing). */
  holds(runId: string): boolean {
    return this.runId === runId
  }

  /** Takes the work from its worker, which can no longer store a result. */
  releaseRun() {
    this.runId = this.leaseUntil = null
  }

  /** Ends the work and resets the failures; work that became due meanwhile stays due. */
  end() {
    this.releaseRun()
    this.failures = 0
  }

  /** Cancels due and running work. */
  cancel() {
    this.end()
    this.dueAt = null
  }

  /** Takes failed work from its worker and sets its next try; returns false when no try is left. */
  fail(now: Date, retry: Retry, { tries = retry.tries, retryAfterMs = 0 }: Failure): boolean {
    this.releaseRun()
    this.failures += 1
    if (this.failures >= tries) return false
    const pauseMs = retry.pauseMs(this.failures) * (1 + Math.random() * (retry.jitter ?? 0))
    this.dueAt = new Date(now.getTime() + Math.max(pauseMs, retryAfterMs))
    return true
  }
}

/** Declares an embeddable for one kind of work: the job that runs it, and its columns. */
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
