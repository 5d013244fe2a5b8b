import { setTimeout as sleep } from "node:timers/promises"
import type { Side } from "./sides.js"

/** Runs a measurement for every contestant in every round; each round begins with another one, and only one process runs at a time. */
export async function interleaved(sides: Side[], rounds: number, measure: (side: Side, round: number) => Promise<void>) {
  for (const side of sides) side.pause()
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < sides.length; turn++) {
      const side = sides[(round + turn) % sides.length]!
      side.resume()
      await measure(side, round)
      side.pause()
    }
  }
  for (const side of sides) side.resume()
}

/** Waits until something is so; throws when it takes too long. */
export async function until(what: string, seconds: number, isSo: () => Promise<boolean>) {
  const deadline = performance.now() + seconds * 1000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`)
    await sleep(50)
  }
}
