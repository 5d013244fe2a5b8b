import { getEventListeners, once } from "node:events"
import { Deadline } from "../../../src/ports/kit/deadline.js"

const anHour = 3_600_000

describe("a deadline", () => {
  it("aborts when its time is over", async () => {
    using deadline = new Deadline(1)
    await once(deadline.signal, "abort")
    expect({ isOver: deadline.isOver, name: deadline.signal.reason.name }).toEqual({ isOver: true, name: "TimeoutError" })
  })

  it("aborts with the other signal, for its reason, also when that has aborted before", () => {
    const other = new AbortController()
    using early = new Deadline(anHour, other.signal)
    other.abort("stopped")
    using late = new Deadline(anHour, other.signal)
    for (const { isOver, signal } of [early, late])
      expect({ isOver, aborted: signal.aborted, reason: signal.reason }).toEqual({ isOver: false, aborted: true, reason: "stopped" })
  })

  it("keeps nothing when it is disposed of", () => {
    const other = new AbortController()
    const deadline = new Deadline(anHour, other.signal)
    expect(getEventListeners(other.signal, "abort")).toHaveLength(1)
    deadline[Symbol.dispose]()
    expect(getEventListeners(other.signal, "abort")).toEqual([])
    other.abort()
    expect(deadline.signal.aborted).toBe(false)
  })
})
