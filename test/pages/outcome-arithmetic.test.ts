import fc from "fast-check"
import {
  answeredOf,
  type Counts,
  changeOf,
  type Group,
  lowered,
  ofHandOffs,
  ofParts,
} from "../../src/pages/browser/inbox/outcomes/arithmetic.js"

const counts = fc.record({ aiAlone: fc.nat(40), aiThenPerson: fc.nat(40), personAlone: fc.nat(40) })
const groups = fc.array(fc.record({ current: counts, before: counts }), { minLength: 1, maxLength: 6 })

const named = (pairs: { current: Counts; before: Counts }[]): Group[] =>
  pairs.map((pair, index) => ({ key: String(index), name: null, ...pair }))
const sum = (all: Counts[]): Counts => ({
  aiAlone: all.reduce((total, { aiAlone }) => total + aiAlone, 0),
  aiThenPerson: all.reduce((total, { aiThenPerson }) => total + aiThenPerson, 0),
  personAlone: all.reduce((total, { personAlone }) => total + personAlone, 0),
})
const totalOf = (pairs: { current: Counts; before: Counts }[]) => ({
  current: sum(pairs.map(({ current }) => current)),
  before: sum(pairs.map(({ before }) => before)),
})
const containment = (of: Counts) => of.aiAlone / answeredOf(of)

describe("what contributed to a change of containment", () => {
  it.each([
    ["hand-offs", ofHandOffs],
    ["assistants and channels", ofParts],
  ])("adds up to the change: %s", (_name, contributions) => {
    fc.assert(
      fc.property(groups, (pairs) => {
        const total = totalOf(pairs)
        const found = contributions(total, named(pairs))
        if (answeredOf(total.current) === 0 || answeredOf(total.before) === 0) return expect(found).toEqual([])
        expect(found).toHaveLength(pairs.length)
        const all = found.reduce((left, { share }) => left + share, 0)
        expect(all).toBeCloseTo(containment(total.current) - containment(total.before), 9)
      }),
    )
  })

  it("is nothing for a group that only grows, when it is like all others", () => {
    const like = (times: number) => ({ aiAlone: 3 * times, aiThenPerson: times, personAlone: 0 })
    const pairs = [
      { current: like(9), before: like(1) },
      { current: like(2), before: like(2) },
    ]
    for (const { share } of ofParts(totalOf(pairs), named(pairs))) expect(share).toBeCloseTo(0, 12)
  })

  it("is the whole change for the one group that changed, and names what is new", () => {
    const same = { aiAlone: 10, aiThenPerson: 2, personAlone: 0 }
    const none = { aiAlone: 0, aiThenPerson: 0, personAlone: 0 }
    const pairs = [
      { current: same, before: same },
      { current: { aiAlone: 0, aiThenPerson: 12, personAlone: 0 }, before: { aiAlone: 12, aiThenPerson: 0, personAlone: 0 } },
      { current: none, before: none },
    ]
    const [first, second, third] = ofParts(totalOf(pairs), named(pairs)).map(({ share }) => share)
    expect([first, third]).toEqual([0, 0])
    expect(second).toBeCloseTo(-0.5, 12)
    // 12 of 24 that people answered where there were none.
    expect(ofHandOffs(totalOf(pairs), named(pairs))[1]!.share).toBe(-0.5)
  })

  it("is listed from the largest fall, without what is too small and what raised it", () => {
    const shares = [-0.02, 0.3, -0.004, -0.2, -0.1].map((share) => ({ share }))
    expect(lowered(shares, 0.005, 2)).toEqual([{ share: -0.2 }, { share: -0.1 }])
  })
})

describe("a change", () => {
  it("is as exact as it is shown", () => {
    expect(changeOf(0.81, 0.5, 0.001)).toEqual({ difference: expect.closeTo(0.31, 9), direction: "up" })
    expect(changeOf(0.5004, 0.5, 0.001)).toEqual({ difference: 0, direction: "same" })
    expect(changeOf(4_000, 5_000, 1)).toEqual({ difference: 1_000, direction: "down" })
    // Shown as 62.2 % and 76.3 %.
    expect(changeOf(0.6216, 0.7628, 0.001)).toEqual({ difference: expect.closeTo(0.141, 9), direction: "down" })
    // 14.25 % is shown as 14.3 %.
    expect(changeOf(0.1425, 0.142, 0.001)).toEqual({ difference: expect.closeTo(0.001, 9), direction: "up" })
    expect(changeOf(null, 0.5, 0.001)).toBeNull()
    expect(changeOf(0.5, null, 0.001)).toBeNull()
  })
})
