import { v7 } from "uuid"
import { clock } from "../../src/entities/kit/clock.js"
import { Claims } from "../../src/jobs/kit/claims.js"
import { DueTimes } from "../../src/jobs/kit/due-times.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { happens, until } from "../kit/wait.js"

/** Due times, and what they have started. */
function dueTimes() {
  const times = new DueTimes()
  const started: string[] = []
  const awaited: { count: number; tell(): void }[] = []
  times.begin(({ id }) => {
    started.push(id)
    for (const { count, tell } of awaited) if (started.length >= count) tell()
    return Promise.resolve()
  })
  return {
    times,
    started,
    expect: (id: string, inMs: number) => times.expect({ job: "reply", companyId: "", id, at: new Date(clock.now().getTime() + inMs) }),
    /** Resolves when this many have started. */
    has: (count: number) => {
      const begun = new Promise<void>((tell) => (started.length >= count ? tell() : awaited.push({ count, tell })))
      return happens(`${count} are started`, begun, () => started)
    },
  }
}

afterEach(() => clock.reset())

it("work is started in the order of its due times", async () => {
  const { times, started, expect: expected, has } = dueTimes()
  const ids = Array.from({ length: 8 }, () => v7())
  for (const [index, id] of [...ids.entries()].toReversed()) expected(id, 5 * index)
  await has(ids.length)
  expect(started).toEqual(ids)
  times.stop()
})

describe("claims", () => {
  /** Claims that the test ends itself, with what each was to claim. */
  function held() {
    const batches: { ids: string[]; end(): void }[] = []
    const claims = new Claims<{ id: string }>((due) => new Promise((end) => batches.push({ ids: due.map(({ id }) => id), end })))
    /** Resolves when this many claims were made; on a busy event loop a claim waits. */
    const made = (count: number) => until(`${count} claims are made`, () => batches.length >= count)
    return { claims, batches, made }
  }

  it("are made together for what is due at the same time, and a few at once for the rest", async () => {
    const { claims, batches, made } = held()
    const { claimsAtOnce, claimBatch } = jobLimits
    const count = claimsAtOnce * claimBatch + 3
    const ids = Array.from({ length: count }, (_, index) => String(index))
    const done = Promise.all(ids.map((id) => claims.add({ id })))
    await made(claimsAtOnce)
    expect(batches.map(({ ids: claimed }) => claimed.length)).toEqual(Array(claimsAtOnce).fill(claimBatch))
    expect(claims.ids).toEqual(ids.slice(-3))
    batches[0]!.end()
    await made(claimsAtOnce + 1)
    expect(batches.at(-1)!.ids).toEqual(ids.slice(-3))
    expect(batches.flatMap(({ ids: claimed }) => claimed)).toEqual(ids)
    for (const { end } of batches) end()
    await done
  })
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
  // Timers fire in the order of their times, also on a slow machine: that of what was forgotten would have fired before this one.
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(started).toEqual([last, moved])
})

it("work is not started before its time by a clock that stands still", async () => {
  clock.stop()
  const { times, started, expect: expected, has } = dueTimes()
  expected("early", 10)
  expected("due", 0)
  await has(1)
  // Timers fire in the order of their times, also on a slow machine: that of "early" has fired before this one.
  await new Promise((resolve) => setTimeout(resolve, 15))
  expect(started).toEqual(["due"])
  clock.advance(10)
  await has(2)
  times.stop()
})
