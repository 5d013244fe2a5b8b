import { randomOf } from "./random.js"

/** What can go wrong with a request to a vendor: the option `--faults` uses the same names. */
export const callFaults = {
  drop: "never handled and never answered",
  hang: "handled, but never answered",
  delay: "handled and answered late",
  "429": "refused, with the vendor's time to wait",
  "500": "refused by a broken server",
  reset: "connection reset before it was handled",
  "reset-after": "connection reset after it was handled",
} as const
export type CallFault = keyof typeof callFaults

/** What can go wrong with a request to a hook. */
export const hookFaults = {
  drop: "the first attempt is lost",
  delay: "sent late",
  duplicate: "sent once more after it was accepted",
  reorder: "overtaken by the next events",
} as const
export type HookFault = keyof typeof hookFaults

/** Probabilities from 0 to 1, by fault. `drop` and `delay` concern both directions. */
export type FaultRates = Partial<Record<CallFault | HookFault, number>>

/** A fault of one request. */
export interface OneFault {
  fault: CallFault
  /** With `429`: seconds to wait; 1 when absent. */
  retryAfter?: number
  /** With `delay`: the response is sent when this is fulfilled, in place of after a time. */
  until?: Promise<unknown>
  /** Concerns the next request whose path contains this; of any path when absent. */
  on?: string
  /** Concerns the next request whose body contains this; with any body when absent. */
  about?: string
}

/** Decides which requests fail: by probability, or one by one as a test says. */
export class Faults {
  private readonly random: () => number
  private readonly planned: OneFault[] = []

  constructor(
    readonly rates: FaultRates = {},
    seed = 1,
  ) {
    this.random = randomOf(seed)
  }

  /** Makes one of the next requests fail; several calls count one after the other. */
  next(fault: CallFault | OneFault) {
    this.planned.push(typeof fault === "string" ? { fault } : fault)
  }

  /** Forgets what `next()` has planned. */
  clear() {
    this.planned.length = 0
  }

  /** The fault of a request to the vendor, or null. */
  ofCall(path: string, body: Buffer | string = ""): OneFault | null {
    const index = this.planned.findIndex(
      ({ on, about }) => (on === undefined || path.includes(on)) && (about === undefined || body.includes(about)),
    )
    if (index !== -1) return this.planned.splice(index, 1)[0]!
    const fault = this.one(Object.keys(callFaults) as CallFault[])
    return fault && { fault }
  }

  /** The fault of a request to a hook, or null. */
  ofHook(): HookFault | null {
    return this.one(Object.keys(hookFaults) as HookFault[])
  }

  /** At most one of them, each with its own probability. */
  private one<Fault extends CallFault | HookFault>(faults: Fault[]): Fault | null {
    let left = this.random()
    for (const fault of faults) {
      left -= this.rates[fault] ?? 0
      if (left < 0) return fault
    }
    return null
  }
}

/** Reads `drop=0.1,429=0.05`; throws a sentence for anything else. */
export function faultRatesOf(text: string): FaultRates {
  const names = [...new Set([...Object.keys(callFaults), ...Object.keys(hookFaults)])]
  const entries = text.split(",").map((entry) => {
    const [, name, rate] = /^([\w-]+)=(0(?:\.\d+)?|1(?:\.0+)?)$/.exec(entry.trim()) ?? []
    if (!name || !names.includes(name))
      throw new Error(`"${entry}" is no fault; write NAME=PROBABILITY, for example drop=0.1, with one of: ${names.join(", ")}`)
    return [name, Number(rate)]
  })
  return Object.fromEntries(entries)
}
