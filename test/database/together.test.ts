import { together } from "../../src/database/together.js"

interface LookUp {
  keys: readonly string[]
  answer(): void
  fail(): void
}

/** Look-ups that the test answers. */
function held() {
  const lookUps: LookUp[] = []
  const find = together(
    (keys: readonly string[]) =>
      new Promise<string[]>((resolve, reject) =>
        lookUps.push({ keys, answer: () => resolve(keys.map((key) => `${key}!`)), fail: () => reject(new Error("lost")) }),
      ),
  )
  return { lookUps, find, turn: () => new Promise(setImmediate) }
}

it("what concurrent requests ask is one look-up, and each key has its own answer", async () => {
  const { lookUps, find, turn } = held()
  const asked = Promise.all(["a", "b", "a"].map(find))
  await turn()
  expect(lookUps.map(({ keys }) => keys)).toEqual([["a", "b", "a"]])
  lookUps[0]!.answer()
  expect(await asked).toEqual(["a!", "b!", "a!"])
})

it("two look-ups run at once; what is asked meanwhile is one further look-up, which begins after its questions", async () => {
  const { lookUps, find, turn } = held()
  const asked: Promise<string>[] = []
  for (const key of ["a", "b", "c", "d"]) {
    asked.push(find(key))
    await turn()
  }
  expect(lookUps.map(({ keys }) => keys)).toEqual([["a"], ["b"]])
  lookUps[1]!.answer()
  await turn()
  expect(lookUps.map(({ keys }) => keys)).toEqual([["a"], ["b"], ["c", "d"]])
  for (const { answer } of lookUps) answer()
  expect(await Promise.all(asked)).toEqual(["a!", "b!", "c!", "d!"])
})

it("a look-up that fails fails its questions alone, and holds no place", async () => {
  const { lookUps, find, turn } = held()
  for (let round = 0; round < 5; round++) {
    const lost = expect(find("lost")).rejects.toThrow("lost")
    await turn()
    lookUps.at(-1)!.fail()
    await lost
  }
  const asked = find("a")
  await turn()
  lookUps.at(-1)!.answer()
  expect(await asked).toBe("a!")
})
