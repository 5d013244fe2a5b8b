import fc from "fast-check"
import { SharedCache } from "../../src/graphql/shared-cache.js"

const room = 100

/** A step of a client: it keeps a value of its own, uses one, or makes one larger. */
const steps = fc.array(
  fc.record({
    does: fc.constantFrom("set", "get", "resize"),
    owner: fc.constantFrom("acme", "globex", "initech"),
    name: fc.nat(8),
    bytes: fc.integer({ min: 1, max: 40 }),
  }),
  { maxLength: 200 },
)

it("never takes more than its room, and counts exactly what it keeps", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const cache = new SharedCache<{ key: string }>(room, room / 4)
      const sizes = new Map<object, number>()
      const values = new Map<string, { key: string }>()
      for (const { does, owner, name, bytes } of all) {
        const key = `${owner} ${name}`
        const value = does === "set" ? { key } : (values.get(key) ?? { key })
        if (does === "get") cache.get(key)
        if (does === "set") cache.set(key, value, owner, bytes)
        if (does === "set" || (does === "resize" && cache.get(key) === value)) sizes.set(value, bytes)
        if (does === "resize") cache.resize(key, value, bytes)
        values.set(key, value)
        const kept = [...values].filter(([each, mine]) => cache.get(each) === mine)
        expect(cache.bytes).toBeLessThanOrEqual(room)
        expect(kept.reduce((sum, [, each]) => sum + sizes.get(each)!, 0)).toBe(cache.bytes)
      }
    }),
  )
})

it("takes nothing from an owner who keeps less than an equal share", () => {
  const cache = new SharedCache<object>(room, room / 4)
  for (let index = 0; index < 4; index++) cache.set(`acme ${index}`, {}, "acme", 10)
  for (let index = 0; index < 100; index++) cache.set(`globex ${index}`, {}, "globex", 10)
  expect([0, 1, 2, 3].map((index) => cache.get(`acme ${index}`))).toEqual([{}, {}, {}, {}])
  expect(cache.get("globex 93")).toBeUndefined()
  expect(cache.get("globex 94")).toBeDefined()
})

it("keeps what was used last, and no value that is too large", () => {
  const cache = new SharedCache<object>(room, room / 4)
  for (let index = 0; index < 5; index++) cache.set(`${index}`, {}, "acme", 20)
  cache.get("0")
  cache.set("5", {}, "acme", 20)
  expect([0, 1].map((index) => cache.get(`${index}`))).toEqual([{}, undefined])
  cache.set("large", {}, "acme", room / 4 + 1)
  expect(cache.get("large")).toBeUndefined()
  const grown = cache.get("5")!
  cache.resize("5", grown, room / 4 + 1)
  expect(cache.get("5")).toBeUndefined()
  expect(cache.bytes).toBe(80)
})
