import { randomOf } from "../../simulate/kit/random.js"

/** Pseudorandom choices that are repeatable by their seed. A campaign makes all of them before it starts, since concurrent ones would have no fixed order. */
export interface Chance {
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
}

/** The choices of one campaign: its own, so that another campaign before it does not change them. */
export function chanceOf(seed: number, campaign: string): Chance {
  let state = seed
  for (const letter of campaign) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193)
  const next = randomOf(state)
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    whole,
    pick: (list) => list[whole(0, list.length - 1)]!,
    shuffled(list) {
      const left = [...list]
      return list.map(() => left.splice(whole(0, left.length - 1), 1)[0]!)
    },
  }
}

/** The numbers from 0 on. */
export const count = (length: number) => Array.from({ length }, (_, index) => index)
