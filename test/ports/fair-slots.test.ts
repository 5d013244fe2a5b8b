import { setImmediate as afterIo } from "node:timers/promises"
import { FairSlots } from "../../src/ports/kit/fair-slots.js"

/** Slots, the work that is running in them by its name, and the work that was interrupted. */
function slotsOf(count: number) {
  const slots = new FairSlots(count)
  const ends = new Map<string, (error?: Error) => void>()
  const begun: string[] = []
  const interrupted: string[] = []
  return {
    begun,
    interrupted,
    running: () => [...ends.keys()],
    /** Starts work that runs until the test ends it; its company is the first letter of its name. */
    start: (name: string, { ignores = false } = {}) =>
      slots.run(name.charAt(0), (interruption) => {
        begun.push(name)
        return new Promise<string>((resolve, reject) => {
          ends.set(name, (error) => {
            ends.delete(name)
            if (error) reject(error)
            else resolve(name)
          })
          interruption.addEventListener("abort", () => {
            interrupted.push(name)
            if (!ignores) ends.get(name)?.(interruption.reason)
          })
        })
      }),
    async end(name: string, error?: Error) {
      ends.get(name)!(error)
      await afterIo()
    },
  }
}

describe("fair slots", () => {
  it("are all used by a company that is alone, and by no more work than there are", async () => {
    const { start, end, running } = slotsOf(3)
    const all = ["a1", "a2", "a3", "a4", "a5"].map((name) => start(name))
    await afterIo()
    expect(running()).toEqual(["a1", "a2", "a3"])
    await end("a2")
    expect(running()).toEqual(["a1", "a3", "a4"])
    for (const name of ["a1", "a3", "a4", "a5"]) await end(name)
    expect([await Promise.all(all), running()]).toEqual([["a1", "a2", "a3", "a4", "a5"], []])
  })

  it("are given to the companies in turn", async () => {
    const { start, end, begun } = slotsOf(1)
    const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => start(name))
    await afterIo()
    for (let index = 0; index < all.length; index += 1) await end(begun[index]!)
    await Promise.all(all)
    expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"])
  })

  it("go first to companies that have none, whose work interrupts the latest work of a company with several", async () => {
    const { start, end, begun, running, interrupted } = slotsOf(3)
    const all = ["a1", "a2", "a3", "a4"].map((name) => start(name))
    await afterIo()
    all.push(...["b1", "c1", "d1"].map((name) => start(name)))
    await afterIo()
    expect(interrupted).toEqual(["a3", "a2"])
    // The last slot of a company is not taken away.
    expect(running()).toEqual(["a1", "b1", "c1"])
    await end("b1")
    expect(running()).toEqual(["a1", "c1", "d1"])
    while (running().length > 0) await end(running()[0]!)
    expect((await Promise.all(all)).sort()).toEqual(["a1", "a2", "a3", "a4", "b1", "c1", "d1"])
    expect(begun.sort()).toEqual(["a1", "a2", "a2", "a3", "a3", "a4", "b1", "c1", "d1"])
  })

  it("are kept by work that ignores its interruption, whose own error is final", async () => {
    const { start, end, begun, running, interrupted } = slotsOf(2)
    const failure = new Error("Its own")
    const [first, second] = [start("a1"), start("a2", { ignores: true }).catch((error) => error)]
    await afterIo()
    const other = start("b1")
    expect([interrupted, running()]).toEqual([["a2"], ["a1", "a2"]])
    await end("a2", failure)
    expect(await second).toBe(failure)
    for (const name of ["a1", "b1"]) await end(name)
    expect([await first, await other, begun]).toEqual(["a1", "b1", ["a1", "a2", "b1"]])
  })
})
