import { pino } from "pino"
import { rootLimits } from "../../src/limits.js"
import { SampledLog } from "../../src/observability/sampled-log.js"

describe("a line that repeats", () => {
  let logged: Record<string, unknown>[]
  let log: SampledLog
  /** What ends the running intervals. */
  let timers: Map<object, () => void>
  beforeEach(() => {
    timers = new Map()
    jest.spyOn(globalThis, "setTimeout").mockImplementation(((end: () => void, ms: number) => {
      expect(ms).toBe(rootLimits.repeatedLogMs)
      const timer = { unref: () => timer }
      timers.set(timer, end)
      return timer
    }) as never)
    jest.spyOn(globalThis, "clearTimeout").mockImplementation(((timer?: object) => void timers.delete(timer!)) as never)
    logged = []
    const write = (line: string) => {
      const { level, reason, count } = JSON.parse(line)
      logged.push({ level: pino.levels.labels[level], reason, ...(count && { count }) })
    }
    log = new SampledLog(pino({ level: "info" }, { write }))
  })
  afterEach(() => jest.restoreAllMocks())

  const interval = () => {
    for (const [timer, end] of [...timers]) {
      timers.delete(timer)
      end()
    }
  }

  it("is logged at once, and then once per interval with the facts of the last one", () => {
    for (const reason of ["one", "two", "three"]) log.line("warn", "away", { reason })
    expect(logged).toEqual([{ level: "warn", reason: "one" }])
    interval()
    expect(logged.slice(1)).toEqual([{ level: "warn", reason: "three", count: 2 }])
    for (let times = 0; times < 3; times += 1) interval()
    expect(logged).toHaveLength(2)
    log.line("warn", "away", { reason: "four" })
    expect(logged[2]).toEqual({ level: "warn", reason: "four" })
  })

  it("is logged at once when it becomes more serious, and then at the level of the last one", () => {
    log.line("warn", "away", { reason: "ended" })
    log.line("warn", "away", { reason: "ended" })
    log.line("error", "away", { reason: "read-only" })
    log.line("debug", "away", { reason: "not enabled" })
    expect(logged).toEqual([
      { level: "warn", reason: "ended" },
      { level: "warn", reason: "ended", count: 1 },
      { level: "error", reason: "read-only" },
    ])
    log.line("warn", "away", { reason: "ended" })
    interval()
    expect(logged[3]).toEqual({ level: "warn", reason: "ended", count: 1 })
  })
})
