import { PerformanceObserver } from "node:perf_hooks"
import { observabilityLimits } from "./limits.js"

/** Work that nothing interrupts: to parse, validate or compile a document, to begin an operation, to write the JSON of a result. */
export type TurnCause = "parse" | "validate" | "compile" | "execute" | "serialize"

type Cause = TurnCause | "garbage"

const { turnPeriodMs: periodMs } = observabilityLimits

/** The longest time, in seconds, that each kind of work held the thread in the last minute. */
export class LongestTurns {
  #current = new Map<Cause, number>()
  #before = new Map<Cause, number>()
  #begun = 0

  /** `now` returns milliseconds of a clock that never goes back. */
  constructor(private readonly now = () => performance.now()) {}

  /** Runs work and notes how long it took. */
  timed<T>(cause: TurnCause, work: () => T): T {
    const begin = this.now()
    try {
      return work()
    } finally {
      this.note(cause, (this.now() - begin) / 1_000)
    }
  }

  /** Notes that work of a kind held the thread for so many seconds. */
  note(cause: Cause, seconds: number) {
    this.#turnPage()
    if (seconds > (this.#current.get(cause) ?? 0)) this.#current.set(cause, seconds)
  }

  /** The longest of each kind. */
  read(): Map<Cause, number> {
    this.#turnPage()
    const longest = new Map(this.#before)
    for (const [cause, seconds] of this.#current) longest.set(cause, Math.max(seconds, longest.get(cause) ?? 0))
    return longest
  }

  #turnPage() {
    const age = this.now() - this.#begun
    if (age < periodMs) return
    this.#before = age < 2 * periodMs ? this.#current : new Map()
    this.#current = new Map()
    this.#begun = this.now()
  }
}

/** The turns of this process. */
export const longestTurns = new LongestTurns()

/** Runs work of this process and notes how long it held the thread. */
export const timed = <T>(cause: TurnCause, work: () => T): T => longestTurns.timed(cause, work)

let isGarbageObserved = false

/** Begins to measure the collection of garbage in this process, once; returns what reads its longest turns. */
export function measuredTurns(): () => Map<string, number> {
  if (!isGarbageObserved) {
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longestTurns.note("garbage", duration / 1_000)
    }).observe({ entryTypes: ["gc"] })
    isGarbageObserved = true
  }
  return () => longestTurns.read()
}
