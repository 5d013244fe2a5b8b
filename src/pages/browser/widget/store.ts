import type { Change, Pending, Visitor } from "./types.js"

/** What the browser keeps for a connection: the visitor's chat and token, their name, and the messages that are not stored yet. */
export class Store {
  readonly #prefix: string
  readonly #listeners = new Set<() => void>()
  #kept: Kept = keptByBrowser() ?? new Map<string, string>()
  #written = 0

  constructor(connectionId: string) {
    this.#prefix = `assistant-widget:${connectionId}:`
    addEventListener("storage", ({ key }) => {
      if (key === null || key.startsWith(this.#prefix)) for (const listener of this.#listeners) listener()
    })
  }

  /** Calls a listener after a change by another tab. */
  onOtherTab(listener: () => void) {
    this.#listeners.add(listener)
  }

  get visitor(): Visitor | null {
    const text = this.#kept.get(`${this.#prefix}visitor`)
    const [chatId, token] = text?.split(" ") ?? []
    return chatId && token ? { chatId, token } : null
  }

  set visitor(visitor: Visitor | null) {
    // Who answers was said of one chat.
    if (visitor?.chatId !== this.visitor?.chatId) this.changes = []
    this.#set("visitor", visitor && `${visitor.chatId} ${visitor.token}`)
  }

  get name(): string | null {
    return this.#kept.get(`${this.#prefix}name`) ?? null
  }

  set name(name: string | null) {
    this.#set("name", name)
  }

  /** The changes of who answers that this browser heard of, oldest first. */
  get changes(): Change[] {
    return JSON.parse(this.#kept.get(`${this.#prefix}changes`) ?? "[]")
  }

  set changes(changes: Change[]) {
    this.#set("changes", changes.length > 0 ? JSON.stringify(changes) : null)
  }

  /** The messages that are not stored yet, oldest first. Each has a key of its own, so that tabs do not overwrite one another's. */
  get outbox(): Pending[] {
    const start = `${this.#prefix}out:`
    const keys = [...this.#kept.keys()].filter((key) => key.startsWith(start)).sort()
    return keys.map((key) => ({ messageId: key.split(":").at(-1)!, ...JSON.parse(this.#kept.get(key) ?? '{"text":""}') }))
  }

  /** Keeps a message until it is stored. */
  add({ messageId, text, file }: Pending) {
    this.#written += 1
    this.#set(`out:${Date.now()}-${String(this.#written).padStart(6, "0")}:${messageId}`, JSON.stringify({ text, file }))
  }

  /** Forgets a message that is stored, or never will be. */
  remove({ messageId }: Pending) {
    for (const key of [...this.#kept.keys()])
      if (key.startsWith(`${this.#prefix}out:`) && key.endsWith(`:${messageId}`)) this.#kept.delete(key)
  }

  #set(name: string, value: string | null) {
    const key = this.#prefix + name
    if (value === null) {
      this.#kept.delete(key)
      return
    }
    try {
      this.#kept.set(key, value)
    } catch {
      // The browser's storage is full: this tab goes on in memory, with what it has.
      this.#kept = new Map([...this.#kept.keys()].map((each) => [each, this.#kept.get(each)!]))
      this.#kept.set(key, value)
    }
  }
}

interface Kept {
  get(key: string): string | undefined
  set(key: string, value: string): unknown
  delete(key: string): unknown
  keys(): Iterable<string>
}

/** The browser's storage; null where it has none for this page, as in a frame of a browser that blocks it. */
function keptByBrowser(): Kept | null {
  try {
    const storage = window.localStorage
    const probe = "assistant-widget:probe"
    storage.setItem(probe, "")
    storage.removeItem(probe)
    return {
      get: (key: string) => storage.getItem(key) ?? undefined,
      set: (key: string, value: string) => storage.setItem(key, value),
      delete: (key: string) => storage.removeItem(key),
      keys: () => Object.keys(storage),
    }
  } catch {
    return null
  }
}
