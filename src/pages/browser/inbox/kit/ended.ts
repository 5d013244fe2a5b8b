import { useCallback, useState, useSyncExternalStore } from "react"

let ended = 0
const listeners = new Set<() => void>()

/** Counts stretches of chats that end, of which reports are made. */
export function heardOf(type: string) {
  if (type !== "STRETCH_ENDED") return
  ended++
  for (const listener of listeners) listener()
}

function listen(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** How many stretches have ended since the view was opened, or since `seen()` was called. */
export function useEnded(): { count: number; seen(): void } {
  const now = useSyncExternalStore(listen, () => ended)
  const [before, setBefore] = useState(now)
  return { count: now - before, seen: useCallback(() => setBefore(ended), []) }
}
