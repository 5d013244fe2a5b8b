import { LongestTurns } from "../../src/observability/longest-turns.js"

/** Turns on a clock of milliseconds, which work moves. */
function turns() {
  const clock = { now: 0 }
  const longest = new LongestTurns(() => clock.now)
  const run = (cause: "parse" | "compile", milliseconds: number) =>
    longest.timed(cause, () => {
      clock.now += milliseconds
    })
  const read = () => Object.fromEntries(longest.read())
  return { clock, longest, run, read }
}

it("says the longest turn of each kind, in seconds", () => {
  const { run, read } = turns()
  run("parse", 5)
  run("parse", 20)
  run("parse", 10)
  run("compile", 3)
  expect(read()).toEqual({ parse: 0.02, compile: 0.003 })
})

it("forgets a turn after 60 s at the latest, and not before 30 s", () => {
  const { clock, run, read } = turns()
  run("parse", 20)
  clock.now = 29_000
  expect(read()).toEqual({ parse: 0.02 })
  clock.now = 31_000
  run("parse", 5)
  expect(read()).toEqual({ parse: 0.02 })
  clock.now = 62_000
  expect(read()).toEqual({ parse: 0.005 })
  clock.now = 200_000
  expect(read()).toEqual({})
})

it("counts work that throws, and lets its error through", () => {
  const { clock, longest, read } = turns()
  const work = () => {
    clock.now += 7
    throw new Error("refused")
  }
  expect(() => longest.timed("parse", work)).toThrow("refused")
  expect(read()).toEqual({ parse: 0.007 })
})
