import pLimit, { type LimitFunction } from "p-limit"
import type { Logger } from "pino"
import { RateLimiterMemory } from "rate-limiter-flexible"
import { ApiError, type Detail, RateLimited } from "../errors/errors.js"
import { TaskLost, TaskProcesses } from "../ports/kit/task-processes.js"
import { assistantLimits } from "./limits.js"

/** A task of a schema process: to check `params`, as JSON, or arguments against them; or only to be ready, with or without the analysis of patterns. */
export type Task =
  | { kind: "params"; params: string }
  | { kind: "arguments"; params: string; args: unknown }
  | { kind: "load"; analysis: boolean }

/** The result of a task, and the CPU time that it took. */
export interface Answer {
  faults: Detail[]
  ms: number
}

/** A task that was stopped because it needed too much time or memory. */
export class TaskStopped extends Error {}

/**
 * Compiles JSON Schemas and validates arguments in separate processes, since both are untrusted. A task that takes too long is stopped by
 * ending its process. Each company runs one task at a time and has a budget of time per minute, so that it delays only itself.
 */
export class SchemaProcesses {
  readonly #slots = pLimit(assistantLimits.schemaProcesses)
  readonly #companies = new Map<string, { inTurn: LimitFunction; tasks: number }>()
  readonly #budget: RateLimiterMemory
  readonly #processes = new TaskProcesses<Task, Answer>({
    program: new URL("./schema-process", import.meta.url),
    heapMb: assistantLimits.schemaHeapMb,
    startMs: assistantLimits.schemaStartMs,
    idleMs: assistantLimits.schemaIdleMs,
  })
  #isClosed = false

  /** A company may use processes for `budgetMs` in a minute. */
  constructor(
    private readonly log: Logger,
    budgetMs: number,
  ) {
    this.#budget = new RateLimiterMemory({ points: budgetMs, duration: 60 })
  }

  /** Runs a task of a company; throws RateLimited when its budget is used up, and TaskStopped. */
  async run(companyId: string, task: Task): Promise<Detail[]> {
    const company = this.#companies.get(companyId) ?? { inTurn: pLimit(1), tasks: 0 }
    this.#companies.set(companyId, company)
    company.tasks += 1
    try {
      return await company.inTurn(async () => {
        await this.#mustHaveBudget(companyId)
        // A company waits here with one task only, so that companies take turns.
        return this.#slots(() => this.#perform(companyId, task))
      })
    } finally {
      company.tasks -= 1
      if (company.tasks === 0) this.#companies.delete(companyId)
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#processes.close()
  }

  async #mustHaveBudget(companyId: string) {
    const used = await this.#budget.get(companyId)
    if (!used || used.remainingPoints > 0) return
    const seconds = Math.ceil(used.msBeforeNext / 1000)
    throw new RateLimited(seconds, `The tools of this company took too much time to be checked: try again in ${seconds} s`)
  }

  async #perform(companyId: string, task: Task): Promise<Detail[]> {
    const begin = performance.now()
    try {
      const { faults, ms } = await this.#processes.run(task, assistantLimits.schemaTaskMs)
      await this.#budget.penalty(companyId, ms)
      return faults
    } catch (error) {
      if (!this.#isClosed) await this.#replace(task)
      await this.#budget.penalty(companyId, performance.now() - begin)
      const loss = error instanceof TaskLost ? error.loss : null
      if (loss === "late") throw new TaskStopped("takes too long")
      if (loss === "memory") throw new TaskStopped("needs too much memory")
      this.log.error({ err: error }, "a schema process ended")
      throw new ApiError(503, "SERVICE_UNAVAILABLE", "The tool's params could not be checked: try again in a few seconds")
    }
  }

  /** Replaces a lost process at once and at the cost of its company, so that another one does not wait for the start. */
  async #replace(lost: Task) {
    const ready: Task = { kind: "load", analysis: lost.kind === "params" }
    await this.#processes.runInNew(ready, assistantLimits.schemaTaskMs).catch((error) => {
      this.log.error({ err: error }, "a schema process did not start")
    })
  }
}
