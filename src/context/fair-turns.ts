import { performance } from "node:perf_hooks"
import { companiesOf, type Identity } from "./identity.js"
import { contextLimits } from "./limits.js"
import { addressKey } from "./rate-limit.js"

const { fairTurns: limits } = contextLimits

/** Who sends for a company: its members and tokens, its visitors, or the durable work of this server. Each waits for its own kind alone. */
export type TurnKind = "people" | "visitors" | "work"

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

interface Company {
  readonly lines: Readonly<Record<TurnKind, Line>>
  /** When the last request came, in milliseconds of a clock that never goes back. */
  seenAt: number
}

/**
 * Lets requests begin. While the process has time to spare, each begins at once. When it has none, and requests of several companies come, each company
 * has a few at a time, so that one request of a company is not served as slowly as the many of another.
 */
export class FairTurns {
  readonly #companies = new Map<string, Company>()
  #waiting = 0

  /** `isBusy` tells whether the process has no time to spare. */
  constructor(
    private readonly isBusy: () => boolean = measuredBusiness(),
    private readonly now = () => performance.now(),
  ) {}

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Waits until a request for a company may begin; returns how to tell that it has ended. One that takes long gives its place free by itself: it waits
   * for something, or sends much.
   */
  async enter(companyId: string, kind: TurnKind): Promise<() => void> {
    const line = this.#lineOf(companyId, kind)
    if (line.waiting.length > 0 || !this.#hasPlace(line)) {
      this.#waiting += 1
      await new Promise<void>((resolve) => line.waiting.push(resolve))
      this.#waiting -= 1
    } else line.running += 1
    let isEnded = false
    const end = () => {
      if (isEnded) return
      isEnded = true
      clearTimeout(timer)
      this.#leave(line)
    }
    const timer = setTimeout(end, limits.longestMs).unref()
    return end
  }

  /** Does something short in the turn of a company. */
  async run<T>(companyId: string, kind: TurnKind, work: () => Promise<T>): Promise<T> {
    const end = await this.enter(companyId, kind)
    try {
      return await work()
    } finally {
      end()
    }
  }

  #lineOf(companyId: string, kind: TurnKind): Line {
    const now = this.now()
    let company = this.#companies.get(companyId)
    if (!company) {
      this.#forget(now)
      company = { lines: { people: newLine(), visitors: newLine(), work: newLine() }, seenAt: now }
      this.#companies.set(companyId, company)
    }
    company.seenAt = now
    return company.lines[kind]
  }

  /** Whether another request of the line may begin now. */
  #hasPlace(line: Line): boolean {
    if (line.running < 1 || this.#companies.size === 1 || !this.isBusy()) return true
    this.#forget(this.now())
    const companies = this.#companies.size
    return companies === 1 || line.running < Math.max(1, Math.floor(limits.atOnce / companies))
  }

  /** Ends a request, and begins those that waited for its place. */
  #leave(line: Line) {
    line.running -= 1
    while (line.waiting.length > 0 && this.#hasPlace(line)) {
      line.running += 1
      line.waiting.shift()!()
    }
  }

  /** Forgets companies without a request for a while. */
  #forget(now: number) {
    for (const [companyId, { lines, seenAt }] of this.#companies)
      if (now - seenAt > limits.activeMs && Object.values(lines).every(({ running }) => running === 0)) this.#companies.delete(companyId)
  }
}

/** In whose turn a request is served; `address` is that of a client without a company. */
export const turnOf = (identity: Identity, address: string): [companyId: string, kind: TurnKind] => [
  companiesOf(identity).at(0) ?? addressKey(address),
  identity.kind === "visitor" ? "visitors" : "people",
]

const newLine = (): Line => ({ running: 0, waiting: [] })

/** Tells whether the event loop had almost no idle time lately. */
export function measuredBusiness(): () => boolean {
  let last = performance.eventLoopUtilization()
  let measuredAt = performance.now()
  let isBusy = false
  return () => {
    const now = performance.now()
    if (now - measuredAt < limits.measureMs) return isBusy
    const next = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(next, last).utilization > limits.busyFrom
    last = next
    measuredAt = now
    return isBusy
  }
}
