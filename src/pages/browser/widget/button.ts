import { buttonStyle } from "./button-style.js"
import { element, icon } from "./dom.js"
import { accentOf, inLanguage, readOptions, sheet } from "./options.js"
import type { Chat, HeardMessage, Host, Options } from "./types.js"

/** Address of the chat's module, which the server fills in. */
const chatModule = "{{widget-chat.js}}"

const texts = {
  en: { open: "Open chat", unread: (count: number) => `Open chat (${count} new)`, failed: "The chat could not be loaded. Try again." },
  de: {
    open: "Chat öffnen",
    unread: (count: number) => `Chat öffnen (${count} neu)`,
    failed: "Der Chat lädt nicht. Versuchen Sie es erneut.",
  },
  uk: {
    open: "Відкрити чат",
    unread: (count: number) => `Відкрити чат (нових: ${count})`,
    failed: "Не вдалося завантажити чат. Спробуйте ще раз.",
  },
}

interface Listeners {
  message: (message: HeardMessage) => void
  open: () => void
  close: () => void
}

/** The button on the host page, and the API that the page's scripts use. The chat itself is loaded when it is opened first. */
class Button {
  readonly #options: Options
  readonly #root: ShadowRoot
  readonly #button = element("button", { type: "button", class: "launcher", "aria-haspopup": "dialog" })
  readonly #badge = element("span", { class: "badge", "aria-hidden": "true", hidden: "" })
  readonly #problem = element("p", { class: "problem", role: "status", hidden: "" })
  readonly #listeners: { [K in keyof Listeners]: Set<Listeners[K]> } = { message: new Set(), open: new Set(), close: new Set() }
  #chat: Promise<Chat> | null = null
  #loads = 0
  #isOpen = false
  #name: string | null = null

  constructor(options: Options) {
    this.#options = options
    const host = element("assistant-widget" as "div", { "data-connection": options.connectionId })
    this.#root = host.attachShadow({ mode: "open" })
    this.#root.adoptedStyleSheets = [sheet(buttonStyle), sheet(accentOf(options.color))]
    this.#button.append(icon("M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H8l-5 4V5a2 2 0 0 1 1-2z"), this.#badge)
    this.#button.classList.add(options.position)
    this.#problem.classList.add(options.position)
    this.#button.addEventListener("click", () => this.open())
    if (!options.isPage) this.#root.append(this.#button)
    this.#root.append(this.#problem)
    this.#unread(0)
    document.body.append(host)
  }

  open() {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#chat ??= this.#load()
    this.#chat.then(
      (chat) => {
        // It may have been closed while it was loaded.
        if (!this.#isOpen) return
        this.#problem.hidden = true
        this.#button.hidden = true
        this.#unread(0)
        chat.show()
        this.#tell("open")
      },
      () => {
        this.#chat = null
        this.#isOpen = false
        this.#problem.textContent = inLanguage(texts, this.#options.language).failed
        this.#problem.hidden = false
      },
    )
  }

  close() {
    if (!this.#isOpen || this.#options.isPage) return
    this.#isOpen = false
    if (!this.#button.hidden) return
    this.#button.hidden = false
    this.#chat?.then((chat) => chat.hide()).catch(() => {})
    this.#button.focus()
    this.#tell("close")
  }

  identify({ name }: { name: string }) {
    if (typeof name !== "string") throw new TypeError('AssistantWidget.identify() needs a name: identify({ name: "Ann" })')
    this.#name = name
    this.#chat?.then((chat) => chat.identify(name)).catch(() => {})
  }

  on<K extends keyof Listeners>(event: K, listener: Listeners[K]): () => void {
    this.#listeners[event].add(listener)
    return () => this.#listeners[event].delete(listener)
  }

  #tell<K extends keyof Listeners>(event: K, ...details: Parameters<Listeners[K]>) {
    for (const listener of this.#listeners[event]) {
      // A listener that throws is the host page's, and must not stop the chat.
      try {
        ;(listener as (...details: unknown[]) => void)(...details)
      } catch (error) {
        console.error(error)
      }
    }
  }

  async #load(): Promise<Chat> {
    this.#loads += 1
    // Some browsers remember that a module could not be loaded.
    const again = this.#loads > 1 ? `?${this.#loads}` : ""
    const { start } = (await import(new URL(chatModule + again, this.#options.base).href)) as typeof import("./chat.js")
    const host: Host = {
      heard: (message) => this.#tell("message", message),
      closed: () => this.close(),
      unread: (count) => this.#unread(count),
    }
    const chat = start(this.#options, this.#root, host)
    if (this.#name !== null) chat.identify(this.#name)
    return chat
  }

  #unread(count: number) {
    const { open, unread } = inLanguage(texts, this.#options.language)
    this.#button.setAttribute("aria-label", count ? unread(count) : open)
    this.#badge.textContent = String(count)
    this.#badge.hidden = count === 0
  }
}

const script = document.currentScript as HTMLScriptElement | null
const options = script && readOptions(script)

function start(chosen: Options) {
  // The same script may be there twice; widgets of several connections may be on one page.
  const made = [...document.querySelectorAll<HTMLElement>("assistant-widget")]
  if (made.some(({ dataset }) => dataset["connection"] === chosen.connectionId)) return
  const button = new Button(chosen)
  if (chosen.isPage) button.open()
  if ("AssistantWidget" in window) return
  const api = Object.freeze({
    open: () => button.open(),
    close: () => button.close(),
    identify: (visitor: { name: string }) => button.identify(visitor),
    on: button.on.bind(button),
  })
  Object.defineProperty(window, "AssistantWidget", { value: api })
}

if (!options) console.error("widget.js: the attribute data-connection of its script element is missing")
else if (document.body) start(options)
else addEventListener("DOMContentLoaded", () => start(options))
