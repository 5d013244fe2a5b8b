import { duration, pace } from "../kit/pace.js"
import { isBroken, promise, promised } from "../kit/promise.js"
import { measureAgain, printed, quiet, type Reference, reference, slowdownOf } from "../kit/reference.js"
import { until, WaitError, waits } from "../kit/wait.js"

const measuredAs = (slowdown: number): Reference => ({ slowdown, readings: quiet, measuredAt: 0 })

/** Waits whose second is a millisecond, on a machine with these slowdowns, one for each measurement. */
function hasty(...slowdowns: number[]) {
  const measure = jest.fn(async () => measuredAs(slowdowns.length > 1 ? slowdowns.shift()! : slowdowns[0]!))
  return { ...waits({ secondMs: 1, last: () => 1, measure }), measure }
}
const never = new Promise<never>(() => {})
const failureOf = (waited: Promise<unknown>): Promise<Error> =>
  waited.then(
    () => {
      throw new Error("It did not fail")
    },
    (error) => error,
  )

describe("a wait", () => {
  it("returns the value of its condition as soon as there is one, and measures nothing", async () => {
    const { until, measure } = hasty(1)
    let looks = 0
    expect(await until("the third look", () => (++looks === 3 ? "third" : null))).toBe("third")
    expect(looks).toBe(3)
    expect(measure).not.toHaveBeenCalled()
  })

  it("gives up with its sentence, the time, the reference, the condition's last value and what it looks at", async () => {
    const { until } = hasty(1)
    const failure = await failureOf(
      until(
        "two messages are there",
        () => 0,
        async () => ({ rows: ["one"] }),
      ),
    )
    expect(failure).toBeInstanceOf(WaitError)
    expect(failure.message).toMatch(/^Waited [\d.]+ s in vain: two messages are there\nReference: slowdown 1\.0 \(turn 0\.0015 ms, /)
    expect(failure.message).toContain("{ condition: 0, look: { rows: [ 'one' ] } }")
  })

  it("gives up though its condition never answers, or its look", async () => {
    const { until, happens } = hasty(1)
    expect((await failureOf(until("an answer", () => never))).message).toMatch(/condition: 'no answer for [\d.]+ s'/)
    expect((await failureOf(happens("an answer", never, () => never))).message).toMatch(/could not be looked at in five seconds/)
    expect((await failureOf(happens("an answer", never, () => JSON.parse("{")))).message).toMatch(/could not be looked at: SyntaxError/)
  })

  it("ends with an error of its condition or of its promise at once", async () => {
    const { until, happens } = hasty(1)
    await expect(until("a value", () => JSON.parse("{"))).rejects.toThrow(SyntaxError)
    await expect(happens("a value", Promise.reject(new Error("refused")))).rejects.toThrow("refused")
    expect(await happens("a value", Promise.resolve(4))).toBe(4)
  })

  it("measures again at its end, and waits longer on a machine that has become slower", async () => {
    const { happens, measure } = hasty(3, 5, 5)
    const failure = await failureOf(happens("nothing", never))
    expect(measure).toHaveBeenCalledTimes(3)
    expect(failure.message).toContain("slowdown 5.0")
  })

  it("counts no time in which this process stood still", async () => {
    const { happens } = hasty(1)
    const value = new Promise((resolve) => setImmediate(() => setImmediate(resolve, "late")))
    const waited = happens("a value", value)
    const end = performance.now() + 100
    while (performance.now() < end);
    expect(await waited).toBe("late")
  })
})

describe("the reference", () => {
  it("is at least 1, and grows with each of its readings, none of which decides it alone", () => {
    expect(slowdownOf({ turn: 0.0001, spin: 0.1, request: 0.01, transaction: 0.01 })).toBe(1)
    expect(slowdownOf(quiet)).toBe(1)
    const { turn, spin, request, transaction } = quiet
    expect(slowdownOf({ turn: 3 * turn, spin: 3 * spin, request: 3 * request, transaction: null })).toBeCloseTo(3)
    expect(slowdownOf({ turn, spin, request, transaction: 16 * transaction })).toBeCloseTo(2)
  })

  it("is measured once for all that need it in a minute, and again when asked", async () => {
    const [first, second] = await Promise.all([measureAgain(), measureAgain()])
    expect(second).toBe(first)
    expect(await reference()).toBe(first)
    expect(await measureAgain()).not.toBe(first)
    expect(printed(first)).toMatch(/^slowdown \d+\.\d \(turn \S+ ms, spin \S+ ms, request \S+ ms, transaction \S+ ms\)$/)
  })
})

describe("a promise", () => {
  it("returns what its check returns", async () => {
    expect(promise("four is four", () => 4)).toBe(4)
    expect(await promise("four is four", async () => 4)).toBe(4)
  })

  it("that is broken is marked, with the failure that shows it", async () => {
    const check = () => expect([1, 2]).toHaveLength(1)
    const failures = [
      await failureOf((async () => promise("stored once", check))()),
      await failureOf(promise("stored once", async () => check())),
    ]
    for (const failure of failures) {
      expect(failure.message).toMatch(/^PROMISE BROKEN: stored once\n[\s\S]*Expected length: .*1/)
      expect(failure.stack).toMatch(/^Error: PROMISE BROKEN: stored once\n[\s\S]*wait\.test/)
      expect(isBroken(failure)).toBe(true)
    }
  })

  it("that contains another one is marked once", async () => {
    const failure = await failureOf(promise("the outer", async () => promise("the inner", () => expect(1).toBe(2))))
    expect(failure.message).toMatch(/^PROMISE BROKEN: the inner\n/)
    expect(failure.message).not.toContain("the outer")
  })
})

describe("a test of a promise", () => {
  /** Registers a test in place of Jest, and runs it. */
  async function ran(test: () => unknown): Promise<Error> {
    const registered: (() => Promise<void>)[] = []
    const real = globalThis.it
    Object.assign(globalThis, { it: (_name: string, run: () => Promise<void>) => registered.push(run) })
    try {
      promised("sent once", test)
    } finally {
      Object.assign(globalThis, { it: real })
    }
    return failureOf(registered[0]!())
  }

  it("marks failed assertions, those of requests too, and waits in vain", async () => {
    for (const test of [
      () => expect(1).toBe(2),
      () => Promise.reject(Object.assign(new Error("expected 404, got 200"), { expected: 404, actual: 200 })),
      () => hasty(1).happens("an answer", never),
    ])
      expect((await ran(test)).message).toMatch(/^PROMISE BROKEN: sent once\n/)
  })

  it("marks no refused connection and no busy server", async () => {
    for (const error of [
      Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
      Object.assign(new Error("expected 200, got 503"), { expected: 200, actual: 503 }),
    ])
      expect(await ran(() => Promise.reject(error))).toBe(error)
  })

  promised.each([
    [1, 2],
    [3, 4],
  ])("runs for each row: %i and %i", async (a, b) => {
    expect(a + 1).toBe(b)
  })
})

describe("a pace", () => {
  const printedLines: string[] = []
  let stderr: jest.SpiedFunction<typeof process.stderr.write>
  beforeEach(() => {
    printedLines.length = 0
    stderr = jest.spyOn(process.stderr, "write").mockImplementation((line) => printedLines.push(String(line)) > 0)
    delete process.env["PACE_FACTOR"]
  })
  afterEach(() => stderr.mockRestore())

  it("prints its value, its bound, the ratio and the reference", async () => {
    const { ratio, reference } = await pace("an answer", 100, "ms", () => 50)
    expect(ratio).toBeCloseTo(0.5 / reference.slowdown)
    expect(printedLines).toEqual([
      expect.stringMatching(/^PACE an answer: 50\.0 ms, bound 100 ms, ratio 0\.\d\d, slowdown \d+\.\d \(.*\)\n$/),
    ])
  })

  it("fails beyond four times its bound, or beyond its bound where that is wanted", async () => {
    const times = (value: number) => pace("a ratio", 3, "times", () => value)
    expect((await times(11.9)).ratio).toBeCloseTo(11.9 / 3)
    await expect(times(12.1)).rejects.toThrow(/^Beyond 4 times its bound: a ratio: 12\.1 times, bound 3 times, ratio 4\.03, /)
    await expect(times(Number.NaN)).rejects.toThrow(/Beyond/)
    process.env["PACE_FACTOR"] = "1"
    await times(2.9)
    await expect(times(3.1)).rejects.toThrow(/^Beyond 1 times/)
  })

  it("is judged by the speed of the machine", async () => {
    // This one measures the machine again.
    await expect(pace("an answer", 100, "ms", () => 1e9)).rejects.toThrow(/Beyond/)
    const { slowdown } = await reference()
    await pace("an answer", 100, "ms", () => 390 * slowdown)
  })

  it("measures how long something takes", async () => {
    expect(await duration(() => until("a turn", () => true))).toBeGreaterThanOrEqual(0)
  })
})
