import { setTimeout as pause } from "node:timers/promises"
import { inspect } from "node:util"
import { lastSlowdown, measureAgain, printed, type Reference } from "./reference.js"

/** A wait gives up after this many seconds of a quiet machine: what takes longer does not happen. */
const patienceSeconds = 30

/** A condition is looked at again after this time. */
const pollMs = 10

/** What a wait shows when it gives up: a value, or a function that looks. */
export type Look = () => unknown

/** What every wait shows that gives up, by name: servers, pages and databases of the test that runs. */
const onlookers = new Map<string, Look>()

/** Lets every wait that gives up show this too; returns a function that ends it. */
export function showInWaits(name: string, look: Look): () => void {
  onlookers.set(name, look)
  return () => void onlookers.delete(name)
}

/** How waits count time: the length of a second, and the measurement that they make before they give up. Tests of waits change them. */
export interface Timing {
  secondMs: number
  /** The slowdown that was measured last, without measuring. */
  last(): number
  measure(): Promise<Reference>
}

/** The failure of a wait that gave up. */
export class WaitError extends Error {
  override name = "WaitError"
}

/**
 * The functions that wait, with a way to count time.
 * @example const { until } = waits({ secondMs: 1, last: lastSlowdown, measure: measureAgain })
 */
export function waits({ secondMs, last, measure }: Timing) {
  /**
   * Resolves with the speed of the machine when it has been waited for too long. It counts ticks of a timer and not the time of a clock: while this process
   * stands still, nothing can happen that is waited for.
   */
  async function patienceEnds(stop: AbortSignal): Promise<Reference> {
    let limit = patienceSeconds * last()
    for (let ticks = 0; ; ticks += 1) {
      if (ticks >= limit) {
        const reference = await measure()
        limit = patienceSeconds * reference.slowdown
        if (ticks >= limit) return reference
      }
      await pause(secondMs, undefined, { signal: stop })
    }
  }

  async function happens<T>(sentence: string, promise: PromiseLike<T>, look?: Look): Promise<T> {
    const begin = performance.now()
    const done = new AbortController()
    const ended = patienceEnds(done.signal).then(
      async (reference) => {
        const seconds = ((performance.now() - begin) / 1_000).toFixed(1)
        throw new WaitError(`Waited ${seconds} s in vain: ${sentence}\nReference: ${printed(reference)}${await shown(look, secondMs)}`)
      },
      // Only the end of the wait aborts the timer.
      () => undefined as never,
    )
    try {
      return await Promise.race([promise, ended])
    } finally {
      done.abort()
    }
  }

  async function until<T>(sentence: string, condition: () => Promise<T> | T, look?: Look): Promise<NonNullable<T>> {
    let hasEnded = false
    let seen: { value: T } | undefined
    let lookedAt = performance.now()
    const poll = async (): Promise<NonNullable<T>> => {
      while (!hasEnded) {
        lookedAt = performance.now()
        seen = undefined
        const value = await condition()
        seen = { value }
        if (value) return value
        await pause(pollMs)
      }
      // Nobody waits for it any more.
      return undefined as never
    }
    const state = async () => ({
      condition: seen ? seen.value : `no answer for ${((performance.now() - lookedAt) / 1_000).toFixed(1)} s`,
      ...(look && { look: await look() }),
    })
    try {
      return await happens(sentence, poll(), state)
    } finally {
      hasEnded = true
    }
  }

  return { until, happens }
}

/** What the looks show, one after the other. */
async function shown(look: Look | undefined, secondMs: number): Promise<string> {
  const looks = [...(look ? [["", look] as const] : []), ...onlookers]
  const texts = looks.map(async ([name, each]) => `\n${name && `${name}: `}${inspect(await looked(each, secondMs), shape)}`)
  return (await Promise.all(texts)).join("")
}

const shape = { depth: 6, maxStringLength: 2_000, maxArrayLength: 50 }

/** What one look shows; it may itself wait for what hangs. */
function looked(look: Look, secondMs: number): Promise<unknown> {
  const value = (async () => look())().catch((error) => `could not be looked at: ${error}`)
  return Promise.race([value, pause(5 * secondMs, "could not be looked at in five seconds", { ref: false })])
}

const ordinary = waits({ secondMs: 1_000, last: lastSlowdown, measure: measureAgain })

/**
 * Waits until a condition holds, and returns its value. It gives up after 30 seconds of a quiet machine with the sentence, the condition's last
 * value and what `look` shows; an error of the condition ends it at once.
 * @example await until("the message is sent", async () => (await message(id)).status === "sent", () => vendor.calls)
 */
export const until = ordinary.until

/**
 * Waits for a promise as `until` does for a condition, and returns its value.
 * @example await happens("the socket is closed", once(socket, "close"))
 */
export const happens = ordinary.happens
