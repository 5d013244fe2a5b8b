import type { RequestContext } from "../../context/request-context.js"
import { clock } from "../../entities/kit/clock.js"

/** A held lease: its signal aborts when the work was taken away, or when the process stops. */
export interface Lease {
  signal: AbortSignal
  end(): void
}

/** How long the holder of a lease is believed to live, how often it says that it does, and what aborts when it stops. */
export interface LeaseTerms {
  leaseMs: number
  renewMs: number
  stopping: AbortSignal
}

/** Gives a sign of life while something runs. `renew` writes until when, and answers whether the work is still ours. */
export function keepLease(
  context: RequestContext,
  { leaseMs, renewMs, stopping }: LeaseTerms,
  renew: (until: Date) => Promise<boolean>,
): Lease {
  const lost = new AbortController()
  const timer = setInterval(() => {
    renew(new Date(clock.now().getTime() + leaseMs)).then(
      (isOurs) => isOurs || lost.abort(),
      // Not lost yet: the fence decides when the result is stored.
      (error) => context.request.log.warn({ err: error }, "a lease was not renewed"),
    )
  }, renewMs)
  return { signal: AbortSignal.any([lost.signal, stopping]), end: () => clearInterval(timer) }
}
