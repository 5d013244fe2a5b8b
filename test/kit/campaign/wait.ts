import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"
import { lastSlowdown, measureAgain } from "../reference.js"

export { sleep }

/** As many milliseconds as this machine takes for what a quiet one does in so many, by the last measurement. */
export const onThisMachine = (ms: number): number => Math.round(ms * lastSlowdown())

/** Waits until something holds; returns whether it did. The deadline is that of a quiet machine: on a slow one it is longer. */
export async function until(holds: () => boolean | Promise<boolean>, deadlineMs: number): Promise<boolean> {
  const begin = performance.now()
  const isOver = () => performance.now() - begin > onThisMachine(deadlineMs)
  for (;;) {
    if (await holds()) return true
    if (isOver()) {
      // The machine may have become slower since it was measured.
      await measureAgain()
      if (isOver()) return false
    }
    await sleep(10)
  }
}

/** Waits until something holds; throws when the deadline passes, also on a slow machine. The error shows what `look` sees then. */
export async function must(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
  look?: () => Promise<unknown>,
): Promise<void> {
  const begin = performance.now()
  if (await until(holds, deadlineMs)) return
  const seconds = Math.round((performance.now() - begin) / 1000)
  const seen = look ? `\n${inspect(await look(), { depth: 5, maxArrayLength: 200, breakLength: 160 })}` : ""
  throw new Error(`Waited ${seconds} s in vain: ${what}${seen}`)
}
