import type { Logger } from "pino"
import { rootLimits } from "../limits.js"

type Level = "debug" | "info" | "warn" | "error"
const levels: readonly Level[] = ["debug", "info", "warn", "error"]

/** A line that was logged, and its repetitions since then: how many, and the last one. */
interface Repeated {
  highest: Level
  last: { level: Level; facts: object }
  count: number
  timer: NodeJS.Timeout
}

/**
 * Logs what repeats, as clients can at will, or while a service is away: the first time at once, then once per interval, with the number of
 * repetitions since then.
 */
export class SampledLog {
  /** By message. */
  readonly #repeated = new Map<string, Repeated>()

  constructor(private readonly log: Logger) {}

  /** Logs a fixed text; one of a higher level than before at once, since it is of something else, after the number of repetitions so far. */
  line(level: Level, message: string, facts: object = {}) {
    if (!this.log.isLevelEnabled(level)) return
    const before = this.#repeated.get(message)
    if (before && levels.indexOf(level) <= levels.indexOf(before.highest))
      return void Object.assign(before, { last: { level, facts }, count: before.count + 1 })
    clearTimeout(before?.timer)
    if (before) this.summarize(message, before)
    this.log[level](facts, message)
    this.startInterval(level, message)
  }

  private startInterval(level: Level, message: string) {
    const end = () => {
      const repeated = this.#repeated.get(message)!
      this.#repeated.delete(message)
      if (this.summarize(message, repeated)) this.startInterval(repeated.last.level, message)
    }
    const timer = setTimeout(end, rootLimits.repeatedLogMs).unref()
    this.#repeated.set(message, { highest: level, last: { level, facts: {} }, count: 0, timer })
  }

  /** Logs how often a line was repeated, if it was. */
  private summarize(message: string, { last: { level, facts }, count }: Repeated): boolean {
    if (count > 0) this.log[level]({ ...facts, count }, message)
    return count > 0
  }
}
