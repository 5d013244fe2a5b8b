import { useRef, useState } from "react"

/** Runs one action at a time: what is asked for while one is under way, as by a second press, is left out. */
export function useBusy() {
  const running = useRef(false)
  const [isBusy, setBusy] = useState(false)
  async function once(action: () => Promise<unknown>) {
    if (running.current) return
    running.current = true
    setBusy(true)
    try {
      await action()
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { isBusy, once }
}
