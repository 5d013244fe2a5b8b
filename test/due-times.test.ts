import { v7 } from "uuid"
import { clock } from "../src/entities/kit/clock.js"
import { DueTimes } from "../src/jobs/kit/due-times.js"
import { jobLimits } from "../src/jobs/limits.js"

/** Due times whose starts the test ends itself. */
function dueTimes() {
  const times = new DueTimes()
  const started: string[] = []
  const ends: (() => void)[] = []
  const awaited: { count: number; tell(): void }[] = []
  times.begin(({ id }) => {
    started.push(id)
    for (const { count, tell } of awaited) if (started.length >= count) tell()
    return new Promise((end) => ends.push(end))
  })
  return {
    times,
    started,
    expect: (id: string, inMs: number) => times.expect({ job: "reply", companyId: "", id, at: new Date(clock.now().getTime() + inMs) }),
    /** Resolves when this many have started. */
    has: (count: number) => new Promise<void>((tell) => (started.length >= count ? tell() : awaited.push({ count, tell }))),
    endAll: () => {
      for (const end of ends.splice(0)) end()
    },
  }
}

afterEach(() => clock.reset())

it("work is started in the order of its due times, and a few at once", async () => {
  const { times, started, expect: expected, has, endAll } = dueTimes()
  const ids = Array.from({ length: jobLimits.claimsAtOnce + 3 }, () => v7())
  for (const [index, id] of [...ids.entries()].toReversed()) expected(id, 5 * index)
  await has(jobLimits.claimsAtOnce)
  // The others are due by then.
  await new Promise((resolve) => setTimeout(resolve, 5 * ids.length))
  expect(started).toEqual(ids.slice(0, jobLimits.claimsAtOnce))
  endAll()
  await has(ids.length)
  expect(started).toEqual(ids)
  endAll()
  times.stop()
})

it("a later call replaces the due time of a row, and a stop forgets all", async () => {
  const { times, started, expect: expected, has } = dueTimes()
  const [moved, forgotten, last] = [v7(), v7(), v7()]
  expected(moved, 0)
  expected(moved, 30)
  expected(last, 15)
  await has(2)
  expect(started).toEqual([last, moved])
  expected(forgotten, 0)
  times.stop()
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length
  const before = timers()
  // What a stopping process releases must not keep it.
  expected(forgotten, 60_000)
  expect(timers()).toBe(before)
  // In real time, because it is shown that a timer does not fire.
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(started).toEqual([last, moved])
})

it("work is not started before its time by a clock that stands still", async () => {
  clock.stop()
  const { times, started, expect: expected, has } = dueTimes()
  expected("early", 10)
  expected("due", 0)
  await has(1)
  // In real time, because timers run in it: this one fires before the clock has come so far.
  await new Promise((resolve) => setTimeout(resolve, 15))
  expect(started).toEqual(["due"])
  clock.advance(10)
  await has(2)
  times.stop()
})
