import { setTimeout } from "node:timers/promises"
import { Faults } from "./faults.js"

/** An attempt to deliver an event. */
export interface Attempt {
  body: string
  /** Null when there was no response. */
  status: number | null
  response: string
}

export interface HookSenderOptions {
  /** Where events go; read at each attempt, since a vendor's hook can be changed. Null: events wait. */
  url(): string | null
  /** Headers that prove who sent the body, the signature among them. */
  sign(body: string): Record<string, string>
  faults?: Faults
  /** Pause after the failed attempt of this number, counted from 1; by default 1 s, doubling to 60 s, as most vendors do. */
  pauseMs?(attempt: number, retryAfterMs: number | null): number
  /** How late a delayed event is, and how long an overtaken one waits. */
  delayMs?: number
}

/** Delivers a vendor's events to a hook: signed, in the order of their lane, each again until the response is 2xx. */
export class HookSender {
  /** All attempts, in order. */
  readonly attempts: Attempt[] = []
  /** Called after each attempt that was not accepted. */
  onRefused: (attempt: Attempt) => void = () => {}
  private readonly lanes = new Map<string, Promise<void>>()
  private readonly running = new Set<Promise<void>>()
  private readonly stopped = new AbortController()
  private readonly faults: Faults

  constructor(private readonly options: HookSenderOptions) {
    this.faults = options.faults ?? new Faults()
  }

  /** Sends an event after those of the same lane; resolves when it was accepted. An event without a lane waits for none. */
  send(event: unknown, lane: string | null = null): Promise<void> {
    const fault = this.faults.ofHook()
    const before = (lane !== null && fault !== "reorder" && this.lanes.get(lane)) || Promise.resolve()
    const sent = before.then(() => this.deliver(JSON.stringify(event), fault))
    if (lane !== null && fault !== "reorder") this.lanes.set(lane, sent)
    this.running.add(sent)
    void sent.finally(() => this.running.delete(sent))
    return sent
  }

  /** Resolves when all events were accepted. */
  async idle() {
    while (this.running.size > 0) await Promise.all(this.running)
  }

  /** Ends all attempts; events that wait are lost. */
  close() {
    this.stopped.abort()
  }

  private async deliver(body: string, fault: ReturnType<Faults["ofHook"]>) {
    const { delayMs = 50 } = this.options
    if (fault === "delay" || fault === "reorder") await this.wait(delayMs)
    for (let attempt = 1; !this.stopped.signal.aborted; attempt++) {
      const isLost = fault === "drop" && attempt === 1
      const { retryAfterMs, ...made } = isLost ? { ...unanswered(body), retryAfterMs: null } : await this.post(body)
      if (made.status !== null && made.status >= 200 && made.status < 300) break
      if (!isLost && !this.stopped.signal.aborted) this.onRefused(made)
      await this.wait((this.options.pauseMs ?? doubling)(attempt, retryAfterMs))
    }
    if (fault === "duplicate") await this.post(body)
  }

  /** Sends one request, however it ends. */
  async post(body: string, headers = this.options.sign(body)): Promise<Attempt & { retryAfterMs: number | null }> {
    const url = this.options.url()
    const attempt = unanswered(body)
    if (url === null) return { ...attempt, retryAfterMs: null }
    this.attempts.push(attempt)
    try {
      const request = { method: "POST", headers: { "content-type": "application/json", ...headers }, body, signal: this.stopped.signal }
      const response = await fetch(url, request)
      attempt.response = await response.text()
      attempt.status = response.status
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN)
      return { ...attempt, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null }
    } catch {
      // The hook was not reached, or the stand-in was closed: the next attempt follows, or none.
      return { ...attempt, retryAfterMs: null }
    }
  }

  /** Ends early when the stand-in is closed. */
  private async wait(ms: number) {
    const { signal } = this.stopped
    await setTimeout(ms, undefined, { signal }).catch((error) => {
      if (!signal.aborted) throw error
    })
  }
}

const unanswered = (body: string): Attempt => ({ body, status: null, response: "" })

const doubling = (attempt: number, retryAfterMs: number | null) => retryAfterMs ?? Math.min(1000 * 2 ** (attempt - 1), 60_000)
