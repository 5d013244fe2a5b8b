import { widgetLimits } from "./limits.js"

/** The pause before a retry: it doubles, and is drawn at random, so that the visitors of a restarted server do not come all at once. */
export const pauseMs = (failures: number) =>
  Math.min(widgetLimits.retryMaxMs, widgetLimits.retryBaseMs * 2 ** Math.min(failures, 16)) * (0.5 + Math.random() / 2)

/** Waits; less when the browser reports that it is online again. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener("online", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener("online", done)
  })
}

/** Waits for all of the time, also when the browser is online again: the server asked for it. */
export const waitAll = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
