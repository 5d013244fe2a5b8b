import type { Logger } from "pino"
import { rootLimits } from "../limits.js"

type Level = "debug" | "info" | "warn" | "error"

/** Logs what repeats, as clients can at will, or while a service is away: the first time at once, then once per interval, with the number of repetitions. */
export class SampledLog {
  /** Repetitions since the last line, by message. */
  readonly #repeated = new Map<string, number>()

  constructor(private readonly log: Logger) {}

  /** Logs a fixed text; `facts` are those of the first occurrence. */
  line(level: Level, message: string, facts: object = {}) {
    if (!this.log.isLevelEnabled(level)) return
    const repeated = this.#repeated.get(message)
    if (repeated !== undefined) return void this.#repeated.set(message, repeated + 1)
    this.log[level](facts, message)
    this.startInterval(level, message)
  }

  private startInterval(level: Level, message: string) {
    this.#repeated.set(message, 0)
    const end = () => {
      const count = this.#repeated.get(message)!
      this.#repeated.delete(message)
      if (count === 0) return
      this.log[level]({ count }, message)
      this.startInterval(level, message)
    }
    setTimeout(end, rootLimits.repeatedLogMs).unref()
  }
}
