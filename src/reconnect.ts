import { rootLimits } from "./limits.js"

/** Milliseconds to wait before a connection is tried again: longer with each failure, bounded, and not the same for all instances. */
export function reconnectWait(failures: number): number {
  const longest = Math.min(rootLimits.reconnectMaxMs, rootLimits.reconnectMs * 2 ** failures)
  return longest * (0.5 + Math.random() / 2)
}
