import type { Logger } from "pino"
import type { DueRow } from "../../entities/kit/work-state.js"

/** A lease that is renewed: its row and its run, and what is told when the work was taken away. */
interface Renewed extends DueRow {
  lease: { lose(): void }
}

/** Renews the leases of all running work of a kind together, by one statement per interval. */
export class Renewals {
  readonly #running = new Map<string, Renewed>()
  #timer: NodeJS.Timeout | null = null

  constructor(
    private readonly intervalMs: number,
    /** Extends the leases; returns the IDs of the runs that still hold their rows. */
    private readonly renew: (runs: DueRow[]) => Promise<Set<string>>,
    private readonly log: Logger,
  ) {}

  /** Renews a lease until it is removed. */
  add(renewed: Renewed) {
    this.#running.set(renewed.runId, renewed)
    this.#timer ??= setInterval(() => void this.#renewAll(), this.intervalMs)
  }

  remove(runId: string) {
    this.#running.delete(runId)
    if (this.#running.size > 0 || !this.#timer) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  async #renewAll() {
    const runs = [...this.#running.values()]
    try {
      const held = await this.renew(runs)
      for (const { runId, lease } of runs) if (!held.has(runId)) lease.lose()
    } catch (error) {
      // Not lost yet: the fence decides when a result is stored.
      this.log.warn({ err: error, count: runs.length }, "leases were not renewed")
    }
  }
}
