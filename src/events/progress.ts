import { LRUCache } from "lru-cache"
import type { Logger } from "pino"
import { eventLimits } from "./limits.js"
import type { WakeUp } from "./wake-up.js"

/** The state of a running answer. */
export interface Progress {
  turnId: string
  /** The whole text so far. */
  text: string
  /** Whether the turn is over. */
  done: boolean
}

/**
 * Publishes the text of running answers to subscribers on any instance. Nothing is stored: the message that follows is the result. An
 * instance with subscribers of a chat announces that repeatedly, so that texts without subscribers are not sent.
 */
export class AnswerProgress {
  #watchers = new Map<string, Set<LatestProgress>>()
  /** Chats with subscribers on any instance, until their announcements stop. */
  readonly #watched = new LRUCache<string, true>({ max: eventLimits.watchedChats, ttl: 2 * eventLimits.watchAnnouncementMs })
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly wakeUp: WakeUp,
    private readonly log: Logger,
  ) {
    wakeUp.subscribe("watched", (chatId) => void this.#watched.set(chatId, true))
    wakeUp.subscribe("progress", (message) => {
      const { chatId, ...progress } = JSON.parse(message) as Progress & { chatId: string }
      for (const watcher of this.#watchers.get(chatId) ?? []) watcher.receive(progress)
    })
    this.#timer = setInterval(() => {
      for (const chatId of this.#watchers.keys()) void this.send("watched", chatId)
    }, eventLimits.watchAnnouncementMs)
  }

  /** Whether a chat has subscribers. */
  isWatched(chatId: string): boolean {
    return this.#watched.has(chatId)
  }

  /** Publishes to the subscribers of a chat; never rejects. */
  publish(chatId: string, progress: Progress): Promise<void> {
    return this.send("progress", JSON.stringify({ chatId, ...progress, text: cut(progress.text) }))
  }

  /** Subscribes to a chat until the iteration ends; a slow reader misses intermediate texts. */
  watch(chatId: string): AsyncIterableIterator<Progress> {
    const watcher = new LatestProgress(() => {
      const others = this.#watchers.get(chatId)
      others?.delete(watcher)
      if (others?.size === 0) this.#watchers.delete(chatId)
    })
    this.#watchers.set(chatId, (this.#watchers.get(chatId) ?? new Set()).add(watcher))
    void this.send("watched", chatId)
    return watcher
  }

  /** Stops the announcements. */
  close() {
    clearInterval(this.#timer)
  }

  private async send(topic: "watched" | "progress", message: string) {
    await this.wakeUp.publish(topic, message).catch((error) => this.log.debug({ err: error }, "progress could not be published"))
  }
}

/** A PostgreSQL notification holds 8,000 bytes: a longer text is cut at its end. */
function cut(text: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(text))
  if (bytes <= eventLimits.progressBytes) return text
  // Cut in proportion; a text of mixed scripts can still be too long and is cut once more.
  return cut(text.slice(0, Math.floor((text.length * eventLimits.progressBytes) / bytes) - 1).replace(/[\uD800-\uDBFF]$/, ""))
}

/** Holds the newest progress that was not read yet. */
class LatestProgress implements AsyncIterableIterator<Progress> {
  #latest: Progress | null = null
  #waiting: ((result: IteratorResult<Progress>) => void) | null = null
  #over = false

  constructor(private readonly leave: () => void) {}

  receive(progress: Progress) {
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
