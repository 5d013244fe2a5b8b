import type { Instance } from "../../test/kit/campaign/instance.js"
import { must } from "../../test/kit/campaign/wait.js"
import { type Chance, count } from "./chance.js"

/** Numbers of things done at which an instance is killed: spread over all of them, each by chance in its share. */
export function killsBy(chance: Chance, kills: number, all: number): number[] {
  const share = all / (kills + 1)
  return count(kills).map((index) => Math.round(share * (index + chance.whole(50, 130) / 100)))
}

/** Kills an instance with -9 each time that so much is done, and starts it again. */
export async function killAt(instance: Instance, thresholds: number[], done: () => number): Promise<void> {
  for (const threshold of thresholds) {
    await must(`${threshold} are done`, () => done() >= threshold, 180_000)
    await instance.kill()
    await instance.start()
  }
}
