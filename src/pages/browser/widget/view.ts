import type { Conversation } from "./conversation.js"
import { element, icon } from "./dom.js"
import { widgetLimits } from "./limits.js"
import { Log } from "./log.js"
import { inLanguage } from "./options.js"
import { type Strings, strings } from "./strings.js"
import type { Options } from "./types.js"

/** Width up to which the chat covers the whole screen; the stylesheet has the same. */
const narrow = "(max-width: 480px), (max-height: 420px)"

/** The dialog of the chat: its log, what is happening, and the field for a message. */
export class View {
  readonly dialog: HTMLElement
  isShown = false
  readonly #log: Log
  readonly #state: HTMLElement
  readonly #typing: HTMLElement
  readonly #dots: HTMLElement
  readonly #texts: Strings
  readonly #field: HTMLTextAreaElement
  readonly #form: HTMLFormElement
  readonly #files: HTMLInputElement
  /** Why a file was not taken. */
  #notice = ""

  constructor(
    private readonly options: Options,
    private readonly conversation: Conversation,
    private readonly close: () => void,
  ) {
    const texts = inLanguage(strings, options.language)
    const language = strings.de === texts ? "de" : strings.uk === texts ? "uk" : "en"
    this.#log = new Log(texts, language, options.greeting, conversation, options.base)
    this.#state = element("p", { class: "state", role: "status" })
    this.#texts = texts
    this.#dots = element("span", { class: "dots", "aria-hidden": "true" }, element("i"), element("i"), element("i"))
    this.#typing = element("p", { class: "typing", role: "status" })
    this.#field = element("textarea", {
      rows: "1",
      "aria-label": texts.message,
      placeholder: texts.message,
      maxlength: String(widgetLimits.messageCharacters),
      dir: "auto",
      enterkeyhint: "send",
    })
    const send = element("button", { type: "submit", class: "send", "aria-label": texts.send }, icon("M3 20.5v-7l9-1.5-9-1.5v-7L22 12z"))
    this.#files = element("input", { type: "file", accept: "image/*,application/pdf", multiple: "", hidden: "", tabindex: "-1" })
    const attach = element(
      "button",
      { type: "button", class: "attach", "aria-label": texts.attach },
      icon(
        "M16.5 6v11.5a4 4 0 0 1-8 0V5a2.5 2.5 0 0 1 5 0v10.5a1 1 0 0 1-2 0V6H10v9.5a2.5 2.5 0 0 0 5 0V5a4 4 0 0 0-8 0v12.5a5.5 5.5 0 0 0 11 0V6z",
      ),
    )
    attach.addEventListener("click", () => this.#files.click())
    this.#form = element("form", { class: "form" }, attach, this.#files, this.#field, send)
    const title = element("h2", { dir: "auto" }, options.title || texts.chat)
    const end = element(
      "button",
      { type: "button", class: "close", "aria-label": texts.close },
      icon("M18.3 7.1 13.4 12l4.9 4.9-1.4 1.4-4.9-4.9-4.9 4.9-1.4-1.4L10.6 12 5.7 7.1l1.4-1.4 4.9 4.9 4.9-4.9z"),
    )
    end.addEventListener("click", close)
    const header = element("header", {}, title, ...(options.isPage ? [] : [end]))
    const attributes = {
      class: `dialog ${options.position}`,
      role: "dialog",
      "aria-label": texts.chat,
      lang: language,
      dir: options.direction,
      hidden: "",
    }
    this.dialog = element("section", attributes, header, this.#log.element, this.#typing, this.#state, this.#form)
    if (options.isPage) {
      this.dialog.classList.add("page")
      Object.assign(document.documentElement, { lang: language, dir: options.direction })
    }
    this.#listen()
    this.render()
  }

  show() {
    this.isShown = true
    this.dialog.hidden = false
    this.dialog.setAttribute("aria-modal", String(!this.options.isPage && matchMedia(narrow).matches))
    this.#log.toEnd()
    // In a frame the focus stays with the page around it until the visitor moves it.
    if (!this.options.isPage || window.top === window) this.#field.focus()
  }

  hide() {
    this.isShown = false
    this.dialog.hidden = true
  }

  /** Shows the conversation as it is now. */
  render() {
    const { isConnected, isTyping, isGone, hasEnded } = this.conversation
    this.#log.render()
    // Text of a status is announced when it changes, so it is set only then.
    if (isTyping !== this.#typing.childNodes.length > 0) this.#typing.replaceChildren(...(isTyping ? [this.#dots, this.#texts.typing] : []))
    const state = isGone ? this.#texts.gone : !isConnected ? this.#texts.reconnecting : hasEnded ? this.#texts.ended : this.#notice
    if (this.#state.textContent !== state) this.#state.textContent = state
    this.#form.hidden = isGone
  }

  #listen() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault()
      this.#send()
    })
    this.#field.addEventListener("keydown", (event) => {
      // Enter that ends the input of a character is not meant for the form.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
      event.preventDefault()
      this.#send()
    })
    this.#field.addEventListener("input", () => this.#fit())
    this.#files.addEventListener("change", () => {
      this.#attach(this.#files.files)
      this.#files.value = ""
    })
    this.#field.addEventListener("paste", ({ clipboardData }) => this.#attach(clipboardData?.files))
    // Otherwise the browser would open the file in place of the page.
    this.dialog.addEventListener("dragover", (event) => event.preventDefault())
    this.dialog.addEventListener("drop", (event) => {
      event.preventDefault()
      this.#attach(event.dataTransfer?.files)
    })
    this.dialog.addEventListener("keydown", (event) => {
      // The shortcuts of the host page are not meant for what is written here.
      event.stopPropagation()
      if (event.key === "Escape" && !event.isComposing) this.close()
      else if (event.key === "Tab") this.#keepInside(event)
    })
  }

  #attach(files: FileList | null | undefined) {
    if (!files?.length) return
    this.#notice = this.conversation.takesFiles ? "" : this.#texts.writeFirst
    if (this.conversation.takesFiles) for (const file of files) void this.conversation.attach(file)
    this.render()
    this.#log.toEnd()
  }

  #send() {
    const text = this.#field.value
    if (!text.trim()) return
    this.#notice = ""
    this.conversation.say(text)
    this.#field.value = ""
    this.#fit()
    this.#log.toEnd()
    this.#field.focus()
  }

  /** The field grows with its text, up to the height that the stylesheet allows. */
  #fit() {
    const lines = this.#field.value.split("\n").length + Math.floor(this.#field.value.length / 36)
    this.#field.rows = Math.max(1, Math.min(5, lines))
  }

  /** Where the chat covers the page, Tab stays in it. */
  #keepInside(event: KeyboardEvent) {
    if (this.dialog.getAttribute("aria-modal") !== "true") return
    const inside = [...this.dialog.querySelectorAll<HTMLElement>("a[href], button, textarea, [tabindex='0']")].filter((each) =>
      each.checkVisibility(),
    )
    const [first, last] = [inside[0], inside.at(-1)]
    const active = (this.dialog.getRootNode() as ShadowRoot).activeElement
    if (active !== (event.shiftKey ? first : last)) return
    event.preventDefault()
    ;(event.shiftKey ? last : first)?.focus()
  }
}
