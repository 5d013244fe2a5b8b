import { clock } from "../../entities/kit/clock.js"
import type { ScheduledJob } from "../../entities/kit/row.js"
import { jobLimits } from "../limits.js"

/**
 * The due times of durable work that this instance stored, in memory: each work is started at its time, in the order of the times.
 * Whatever is lost with the process is in the rows, where the next sweep of any instance finds it.
 */
export class DueTimes {
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #isStopped = false
  #start: ((job: ScheduledJob) => Promise<void>) | null = null

  /** Starts work from now on; what became due before is left to the sweep. */
  begin(start: (job: ScheduledJob) => Promise<void>) {
    this.#start = start
  }

  /** Forgets all due times, and those to come; other instances find the rows. */
  stop() {
    this.#isStopped = true
    this.#start = null
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  /** Starts the work on a row at its due time; a later call for the row replaces the time. */
  expect(job: ScheduledJob) {
    if (this.#isStopped) return
    const key = `${job.job} ${job.id}`
    clearTimeout(this.#timers.get(key))
    const waitMs = Math.max(0, job.at.getTime() - clock.now().getTime())
    this.#timers.set(
      key,
      setTimeout(() => this.#reach(key, job), Math.min(waitMs, jobLimits.longestTimerMs)),
    )
  }

  #reach(key: string, job: ScheduledJob) {
    // A timer may fire a millisecond early, and one that was cut fires long before.
    if (job.at > clock.now()) return this.expect(job)
    this.#timers.delete(key)
    void this.#start?.(job)
  }
}
