import { LRUCache } from "lru-cache"
import type { Logger } from "pino"
import { eventLimits } from "./limits.js"
import type { WakeUp } from "./wake-up.js"

/** How far a running answer has come. */
export interface Progress {
  turnId: string
  /** What it says so far. */
  text: string
  /** Whether the turn is over. */
  done: boolean
}

/**
 * The words of running answers on their way to whoever watches, on any instance. Nothing of it is stored: what counts is the message that
 * follows. Who watches a chat says so again and again, so that nobody sends words that nobody reads.
 */
export class AnswerProgress {
  #watchers = new Map<string, Set<LatestProgress>>()
  /** Chats that somebody watches, on any instance, until it is not said any more. */
  readonly #watched = new LRUCache<string, true>({ max: eventLimits.watchedChats, ttl: 2 * eventLimits.watchSignMs })
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly wakeUp: WakeUp,
    private readonly log: Logger,
  ) {
    wakeUp.subscribe("watched", (chatId) => void this.#watched.set(chatId, true))
    wakeUp.subscribe("progress", (message) => {
      const { chatId, ...progress } = JSON.parse(message) as Progress & { chatId: string }
      for (const watcher of this.#watchers.get(chatId) ?? []) watcher.hear(progress)
    })
    this.#timer = setInterval(() => {
      for (const chatId of this.#watchers.keys()) void this.publish("watched", chatId)
    }, eventLimits.watchSignMs)
  }

  /** Whether anybody watches a chat. */
  isWatched(chatId: string): boolean {
    return this.#watched.has(chatId)
  }

  /** Tells those who watch a chat; never fails. */
  tell(chatId: string, progress: Progress): Promise<void> {
    return this.publish("progress", JSON.stringify({ chatId, ...progress, text: cut(progress.text) }))
  }

  /** Watches a chat, until the iteration ends; a slow reader misses what was in between. */
  watch(chatId: string): AsyncIterableIterator<Progress> {
    const watcher = new LatestProgress(() => {
      const others = this.#watchers.get(chatId)
      others?.delete(watcher)
      if (others?.size === 0) this.#watchers.delete(chatId)
    })
    this.#watchers.set(chatId, (this.#watchers.get(chatId) ?? new Set()).add(watcher))
    void this.publish("watched", chatId)
    return watcher
  }

  /** Stops saying who watches. */
  close() {
    clearInterval(this.#timer)
  }

  private async publish(topic: "watched" | "progress", message: string) {
    await this.wakeUp.publish(topic, message).catch((error) => this.log.debug({ err: error }, "progress was not told"))
  }
}

/** PostgreSQL carries 8,000 bytes at once: of a longer text its beginning is told. */
function cut(text: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(text))
  if (bytes <= eventLimits.progressBytes) return text
  // In proportion, which a text of mixed letters can miss; then once more.
  return cut(text.slice(0, Math.floor((text.length * eventLimits.progressBytes) / bytes) - 1).replace(/[\uD800-\uDBFF]$/, ""))
}

/** The newest progress that was not read yet. */
class LatestProgress implements AsyncIterableIterator<Progress> {
  #latest: Progress | null = null
  #waiting: ((result: IteratorResult<Progress>) => void) | null = null
  #over = false

  constructor(private readonly leave: () => void) {}

  hear(progress: Progress) {
    if (this.#waiting) {
      this.#waiting({ value: progress, done: false })
      this.#waiting = null
    } else this.#latest = progress
  }

  next(): Promise<IteratorResult<Progress>> {
    if (this.#over) return Promise.resolve({ value: undefined, done: true })
    const value = this.#latest
    this.#latest = null
    if (value) return Promise.resolve({ value, done: false })
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  return(): Promise<IteratorResult<Progress>> {
    this.#over = true
    this.leave()
    this.#waiting?.({ value: undefined, done: true })
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator]() {
    return this
  }
}
