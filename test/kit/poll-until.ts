import { setTimeout as pause } from "node:timers/promises"

/** Waits until a condition holds, and returns its value; a test that waits for ever fails by its timeout. */
export async function until<T>(condition: () => Promise<T> | T): Promise<NonNullable<T>> {
  for (;;) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    await pause(10)
  }
}
