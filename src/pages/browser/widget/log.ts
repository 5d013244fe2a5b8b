import { type Conversation, placeOf, type ShownPending } from "./conversation.js"
import { element } from "./dom.js"
import { markdown } from "./markdown.js"
import { drawPicture, isPicture } from "./picture.js"
import { ratingCard } from "./rating.js"
import type { Strings } from "./strings.js"
import type { Answering, Change, Media, Message } from "./types.js"

/** How far from its end the log still follows new messages, in pixels. */
const nearEnd = 80

/** The log of messages. Elements are kept and reused, so that screen readers hear only what is new. */
export class Log {
  readonly element: HTMLElement
  readonly #shown = new Map<string, { element: HTMLElement; of: unknown }>()
  /** By the ID of the file. */
  readonly #pictures = new Map<string, HTMLElement>()
  readonly #clock: Intl.DateTimeFormat
  #earlier: HTMLElement | null = null

  constructor(
    private readonly texts: Strings,
    language: string,
    private readonly greeting: string,
    private readonly conversation: Conversation,
    /** Address of the server. */
    private readonly base: string,
  ) {
    this.element = element("div", { class: "log", role: "log", "aria-label": texts.messages, tabindex: "0" })
    this.#clock = new Intl.DateTimeFormat(language, { timeStyle: "short" })
  }

  /** Scrolls to the newest message. */
  toEnd() {
    this.element.scrollTop = this.element.scrollHeight
  }

  render() {
    const { scrollHeight, scrollTop } = this.element
    const wasAtEnd = this.#isAtEnd()
    this.element.setAttribute("aria-busy", String(this.conversation.isLoading))
    const wanted = [...this.#entries()]
    const keys = new Set(wanted.map(([key]) => key))
    for (const [key, { element: gone }] of this.#shown) {
      if (keys.has(key)) continue
      gone.remove()
      this.#shown.delete(key)
    }
    const first = this.element.firstElementChild
    wanted.forEach(([key, of, make], index) => {
      const known = this.#shown.get(key)
      const shown = known && known.of === of ? known.element : make()
      if (known && known.element !== shown) known.element.replaceWith(shown)
      this.#shown.set(key, { element: shown, of })
      if (this.element.children[index] !== shown) this.element.insertBefore(shown, this.element.children[index] ?? null)
    })
    if (wasAtEnd) this.toEnd()
    // Earlier messages were added above: what was in view stays there.
    else if (first !== this.element.firstElementChild) this.element.scrollTop = scrollTop + this.element.scrollHeight - scrollHeight
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.element
    return scrollHeight - scrollTop - clientHeight < nearEnd
  }

  /** What the log shows, in order: a key, the value that the element shows, and how it is made. */
  *#entries(): Generator<[key: string, of: unknown, make: () => HTMLElement]> {
    const { messages, pending, hasEarlier, rating } = this.conversation
    if (hasEarlier) yield ["earlier", "earlier", () => this.#earlierButton()]
    else if (this.greeting) yield ["greeting", "greeting", () => this.#greet()]
    const changes = [...this.conversation.changes]
    let now = "assistant" as Answering
    let isRatingShown = false
    const { givenBack: assistant, passedOn: waiting, takenOver: person } = this.texts
    function* changeTo({ place, answering }: Change): Generator<[string, unknown, () => HTMLElement]> {
      if (answering === now) return
      now = answering
      const note = { assistant, waiting, person }[answering]
      yield [`note ${place}`, note, () => element("p", { class: "note" }, note)]
    }
    for (const message of [...messages.values()].sort((one, other) => placeOf(one) - placeOf(other))) {
      const { id, role } = message
      if (rating && rating.place < placeOf(message) && !isRatingShown) {
        isRatingShown = true
        yield this.#rating(rating)
      }
      while (changes[0] && changes[0].place < placeOf(message)) yield* changeTo(changes.shift()!)
      // Who wrote it answers, also where no change was heard; what the assistant says when it passes the chat on comes after the change.
      if (role === "USER" || (role === "ASSISTANT" && now === "person"))
        yield* changeTo({ place: placeOf(message), answering: role === "USER" ? "person" : "assistant" })
      yield [message.externalId ?? id, message, () => this.#article(message)]
    }
    for (const change of changes) yield* changeTo(change)
    if (rating && !isRatingShown) yield this.#rating(rating)
    for (const each of pending.values()) yield [each.messageId, each, () => this.#waiting(each)]
  }

  #rating(rating: NonNullable<Conversation["rating"]>): [string, unknown, () => HTMLElement] {
    const make = () => ratingCard(rating, this.texts, (given, text) => this.conversation.rate(given, text))
    return [`rating ${rating.stretchId}`, rating, make]
  }

  #greet(): HTMLElement {
    return element("div", { class: "bubble theirs" }, element("div", { class: "body", dir: "auto" }, markdown(this.greeting)))
  }

  #earlierButton(): HTMLElement {
    this.#earlier ??= element("button", { type: "button", class: "earlier" }, this.texts.earlier)
    this.#earlier.onclick = () => void this.conversation.readEarlier()
    return this.#earlier
  }

  #article({ role, text, createdAt, messageMedia }: Message): HTMLElement {
    const isOwn = role === "CUSTOMER"
    const { you, assistant, colleague } = this.texts
    const author = isOwn ? you : role === "USER" ? colleague : assistant
    const body = element("div", { class: "body", dir: "auto" })
    if (text) body.append(isOwn ? element("p", {}, text) : markdown(text))
    for (const { media } of messageMedia) body.append(this.#file(media))
    const time = element("time", { datetime: createdAt }, this.#clock.format(new Date(createdAt)))
    const byline = element("p", { class: "byline" }, element("span", {}, author), " ", time)
    return element("article", { class: `bubble ${isOwn ? "own" : "theirs"}` }, byline, body)
  }

  #file(media: Media): HTMLElement {
    const { filename, url } = media
    const content = filename || this.texts.unreadable
    if (url === null || !/^https?:/i.test(url)) return element("p", {}, content)
    const link = element("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "file" }, content)
    if (isPicture(media) && new URL(url).origin === new URL(this.base).origin) void this.#show(media.id, url, link)
    return element("p", {}, link)
  }

  /** Shows a picture above its name; one that was drawn before at once, so that a message that changes does not jump. */
  async #show(id: string, url: string, link: HTMLElement) {
    const picture = this.#pictures.get(id) ?? (await drawPicture(url))
    if (!picture) return
    this.#pictures.set(id, picture)
    const wasAtEnd = this.#isAtEnd()
    link.prepend(picture)
    if (wasAtEnd) this.toEnd()
  }

  #waiting({ text, filename, state, reason = "" }: ShownPending): HTMLElement {
    const { you, sending, waiting, refused } = this.texts
    const told = state === "refused" ? `${refused} ${reason}` : state === "waiting" ? waiting : sending
    const byline = element("p", { class: "byline" }, element("span", {}, you))
    const body = element("div", { class: "body", dir: "auto" }, element("p", {}, filename ?? text))
    return element("article", { class: `bubble own ${state}` }, byline, body, element("p", { class: "told" }, told))
  }
}
