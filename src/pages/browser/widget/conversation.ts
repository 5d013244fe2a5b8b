import { history, rate, ratingRequest, upload } from "./api.js"
import { widgetLimits } from "./limits.js"
import { live } from "./live.js"
import { inLanguage } from "./options.js"
import { Outbox } from "./outbox.js"
import { pauseMs, wait, waitAll } from "./pauses.js"
import { Store } from "./store.js"
import { strings } from "./strings.js"
import type { Answering, Change, Message, Options, Pending, RatingRequest } from "./types.js"
import { uuid } from "./uuid.js"

/** A message that is not known to be stored, as it is shown. */
export interface ShownPending extends Pending {
  state: "sending" | "waiting" | "refused"
  /** The name of its file. */
  filename?: string
  reason?: string
}

/** The visitor's chat: what is stored, what is not yet, and what the other side does. Knows nothing of the page. */
export class Conversation {
  readonly messages = new Map<string, Message>()
  readonly pending = new Map<string, ShownPending>()
  isConnected = true
  isTyping = false
  hasEnded = false
  isGone = false
  isLoading = false
  hasEarlier = false
  /** What the visitor is asked about the chat that has ended, where it is in the log, and whether the answer was not stored. */
  rating: (RatingRequest & { place: number; isRefused: boolean }) | null = null
  readonly #store: Store
  readonly #outbox: Outbox
  #chatId: string | null = null
  #stop: (() => void) | null = null
  #earliest: string | null = null
  #hasRead = false
  /** Messages that events have brought since the log is followed: what is read then may be older. */
  readonly #told = new Set<string>()
  /** Who answers by an event that came before the messages were read. */
  #unplaced: Answering | null = null
  #typingEnds: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly options: Options,
    /** Called after every change. */
    private readonly changed: () => void,
    /** Called once for each message that arrives while the page is open. */
    private readonly heard: (message: Message) => void,
  ) {
    this.#store = new Store(options.connectionId)
    this.#outbox = new Outbox(options, this.#store, {
      stored: ({ messageId, text, file }, { id }) => {
        this.hasEnded = false
        const createdAt = new Date().toISOString()
        // All of a chat that begins here is new to the host page.
        this.#follow(true)
        const place = this.#lastPlace() + 0.5
        const messageMedia = file ? [{ media: { id: file.id, filename: file.name, mimeType: "", size: 0, url: null } }] : []
        this.#merge({ id, sequence: null, place, role: "CUSTOMER", text, createdAt, externalId: messageId, messageMedia })
      },
      refused: (pending, reason) => this.#show(pending, "refused", reason),
      ended: () => this.#end(),
      gone: () => {
        this.isGone = true
        this.changed()
      },
      waiting: () => {
        for (const pending of this.#store.outbox) this.#show(pending, "waiting")
      },
    })
    this.#store.onOtherTab(() => this.#adopt())
    addEventListener("online", () => void this.#outbox.flush())
    this.#adopt()
    void this.#outbox.flush()
  }

  /** Stores a message in the outbox, from which it is sent once there is a connection. */
  say(text: string) {
    const pending = { messageId: uuid(), text }
    this.#store.add(pending)
    this.#show(pending, navigator.onLine ? "sending" : "waiting")
    void this.#outbox.flush()
  }

  /** The changes of who answers, oldest first. */
  get changes(): Change[] {
    return this.#store.changes
  }

  /** Whether files can be sent: they belong to the chat that the first message begins. */
  get takesFiles() {
    return this.#store.visitor !== null && !this.isGone
  }

  /** Uploads a file, and sends it as a message of its own. Until it is uploaded, it is kept by this tab alone. */
  async attach(file: File) {
    const pending: Pending = { messageId: uuid(), text: "" }
    const show = (state: ShownPending["state"], reason?: string) => this.#show({ ...pending, filename: file.name }, state, reason)
    show("sending")
    for (let failures = 0; ; failures += 1) {
      const visitor = this.#store.visitor
      if (!visitor) return show("refused", inLanguage(strings, this.options.language).ended)
      const outcome = await upload(this.options, visitor.token, file, pending.messageId)
      if (outcome.kind === "stored") {
        pending.file = { id: outcome.id, name: file.name }
        this.#store.add(pending)
        return this.#outbox.flush()
      }
      if (outcome.kind === "refused") return show("refused", outcome.reason)
      if (outcome.kind === "ended") return show("refused", inLanguage(strings, this.options.language).ended)
      show("waiting")
      await (outcome.afterMs ? waitAll(outcome.afterMs) : wait(pauseMs(failures)))
    }
  }

  /** Keeps the visitor's name, which goes with their next message. */
  identify(name: string) {
    this.#store.name = name.trim() || null
  }

  /** Reads the page of messages before the earliest one that is shown. */
  async readEarlier() {
    const visitor = this.#store.visitor
    const page = visitor && (await history(this.options, visitor, this.#earliest))
    if (!page || visitor.chatId !== this.#chatId) return
    this.#earliest = page.pageInfo.endCursor
    this.hasEarlier = page.pageInfo.hasNextPage
    for (const message of page.nodes) this.#add(message)
    this.changed()
  }

  /** Stores the visitor's rating, and shows it as sent. */
  async rate(rating: number, text: string | null) {
    const visitor = this.#store.visitor
    const { rating: asked } = this
    if (!visitor || !asked) return
    const isStored = await rate(this.options, visitor, { ...asked, rating, text })
    if (this.rating?.stretchId !== asked.stretchId) return
    this.rating = isStored ? { ...asked, rating, text, isRefused: false } : { ...asked, isRefused: true }
    this.changed()
  }

  /** Reads whether the visitor is asked for a rating now. */
  async #askForRating(chatId: string) {
    const visitor = this.#store.visitor
    const asked = visitor && (await ratingRequest(this.options, visitor))
    if (this.#chatId !== chatId || !asked) return
    const isShown = this.rating?.stretchId === asked.stretchId
    this.rating = { ...asked, place: isShown ? this.rating!.place : this.#lastPlace() + 0.4, isRefused: false }
    this.changed()
  }

  /** Takes over what another tab has written or begun. */
  #adopt() {
    for (const pending of this.#store.outbox) if (!this.pending.has(pending.messageId)) this.#show(pending, "sending")
    this.#follow()
  }

  #show(pending: Omit<ShownPending, "state">, state: ShownPending["state"], reason?: string) {
    const isStored = [...this.messages.values()].some(({ externalId }) => externalId === pending.messageId)
    const filename = pending.filename ?? pending.file?.name
    if (!isStored) this.pending.set(pending.messageId, { ...pending, state, ...(filename && { filename }), ...(reason && { reason }) })
    this.changed()
  }

  /** Follows the visitor's chat, unless it already does. */
  #follow(begins = false) {
    const chatId = this.#store.visitor?.chatId ?? null
    if (chatId === this.#chatId) return
    this.#leave()
    this.#chatId = chatId
    if (!chatId) return
    const isCurrent = () => this.#chatId === chatId
    this.#hasRead = begins
    this.isLoading = !begins
    this.#stop = live(this.options, () => this.#store.visitor, {
      message: (message) => {
        this.#told.add(message.id)
        this.#merge(message)
      },
      typing: (done) => this.#typing(!done),
      answering: (answering) => this.#answering(answering),
      rests: () => void this.#askForRating(chatId),
      connected: (isConnected) => {
        if (!isCurrent()) return
        this.isConnected = isConnected
        if (!isConnected) this.#typing(false)
        this.changed()
      },
      begins: () => {
        this.#told.clear()
        void this.#read(chatId)
      },
      ended: () => {
        if (!isCurrent()) return
        // The messages that wait begin a new chat.
        if (this.#store.visitor?.chatId === chatId) this.#store.visitor = null
        this.#end()
        void this.#outbox.flush()
      },
    })
  }

  /** Notes who answers from now on. */
  #answering(answering: Answering) {
    if (!this.#hasRead) {
      // It comes after messages that are not known yet.
      this.#unplaced = answering
      return
    }
    const place = this.#lastPlace() + 0.25
    // One that was changed back before anything was written is not worth two lines.
    const others = this.#store.changes.filter((each) => each.place !== place)
    this.#store.changes = [...others, { place, answering }].slice(-widgetLimits.keptChanges)
    this.changed()
  }

  #lastPlace(): number {
    return Math.max(0, ...[...this.messages.values()].map(placeOf))
  }

  #leave() {
    this.#stop?.()
    this.#stop = null
    this.#chatId = null
    this.#earliest = null
    this.#hasRead = false
    this.#unplaced = null
    this.rating = null
    this.hasEarlier = false
    this.isLoading = false
    this.isConnected = true
    this.#typing(false)
    this.messages.clear()
  }

  #end() {
    this.#leave()
    this.hasEnded = true
    this.changed()
  }

  /** Reads the newest messages until the server answers. */
  async #read(chatId: string) {
    for (let failures = 0; this.#chatId === chatId; failures += 1) {
      const visitor = this.#store.visitor
      const page = visitor && (await history(this.options, visitor, null))
      if (this.#chatId !== chatId) return
      if (!page) {
        await wait(pauseMs(failures))
        continue
      }
      if (!this.#hasRead) {
        this.#earliest = page.pageInfo.endCursor
        this.hasEarlier = page.pageInfo.hasNextPage
      }
      for (const message of page.nodes.toReversed()) {
        if (this.#told.has(message.id)) continue
        if (this.#hasRead) this.#merge(message)
        else this.#add(message)
      }
      void this.#askForRating(chatId)
      this.#hasRead = true
      this.isLoading = false
      if (this.#unplaced) this.#answering(this.#unplaced)
      this.#unplaced = null
      this.changed()
      return
    }
  }

  #add(message: Message): boolean {
    const isNew = !this.messages.has(message.id)
    // What was sent just now has no sequence yet, and never replaces what is stored.
    if (isNew || message.sequence !== null) this.messages.set(message.id, message)
    if (message.externalId) this.pending.delete(message.externalId)
    return isNew
  }

  #merge(message: Message) {
    const isNew = this.#add(message)
    if (message.role !== "CUSTOMER") this.#typing(false)
    // The chat goes on: what was not rated is not asked for any more.
    else if (isNew && this.rating?.rating === null) this.rating = null
    this.changed()
    if (isNew) this.heard(message)
  }

  #typing(isTyping: boolean) {
    const wasTyping = this.isTyping
    this.isTyping = isTyping
    clearTimeout(this.#typingEnds)
    if (isTyping) this.#typingEnds = setTimeout(() => this.#typing(false), widgetLimits.typingMs)
    if (wasTyping !== isTyping) this.changed()
  }
}

/** Where a message is in the log. */
export const placeOf = ({ sequence, place }: Message): number => sequence ?? place ?? 0
