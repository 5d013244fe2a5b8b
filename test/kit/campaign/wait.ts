import { setTimeout as sleep } from "node:timers/promises"

export { sleep }

/** Waits until something holds; answers whether it did within the deadline. */
export async function until(holds: () => boolean | Promise<boolean>, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs
  for (;;) {
    if (await holds()) return true
    if (performance.now() > end) return false
    await sleep(10)
  }
}

/** Waits until something holds; a deadline that passes here is a fault of the surroundings, not a finding. */
export async function must(what: string, holds: () => boolean | Promise<boolean>, deadlineMs = 60_000): Promise<void> {
  if (!(await until(holds, deadlineMs))) throw new Error(`Waited ${deadlineMs / 1000} s in vain: ${what}`)
}
