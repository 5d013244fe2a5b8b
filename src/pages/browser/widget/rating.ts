import { element } from "./dom.js"
import { widgetLimits } from "./limits.js"
import type { Strings } from "./strings.js"
import type { RatingRequest } from "./types.js"

/** Stores a rating with what the visitor wrote. */
type Rate = (rating: number, text: string | null) => Promise<void>

/** The question for a rating with its buttons; afterwards the rating as it was sent, with a field to say more. */
export function ratingCard(asked: RatingRequest & { isRefused: boolean }, texts: Strings, rate: Rate): HTMLElement {
  const { question, rating, text, isRefused } = asked
  const status = element("p", { class: "told", role: "status" }, isRefused ? texts.notRated : rating === null ? "" : texts.thanks)
  const legend = element("legend", { dir: "auto" }, question)
  const card = element("fieldset", { class: "rating" }, legend, scale(asked, texts, rate), status)
  if (text) card.append(element("p", { class: "said", dir: "auto" }, text))
  else if (rating !== null) card.append(comment(texts, (said) => rate(rating, said)))
  return card
}

/** Five buttons from bad to good; the chosen one is pressed, and another one can still be chosen. */
function scale({ rating, text }: RatingRequest, texts: Strings, rate: Rate): HTMLElement {
  const buttons = [1, 2, 3, 4, 5].map((value) => {
    const label = `${value} / 5${value === 1 ? `: ${texts.bad}` : value === 5 ? `: ${texts.good}` : ""}`
    const button = element("button", { type: "button", "aria-label": label, "aria-pressed": String(value === rating) }, String(value))
    button.addEventListener("click", () => {
      for (const each of buttons) each.disabled = true
      void rate(value, text)
    })
    return button
  })
  return element("div", { class: "scale" }, element("span", {}, texts.bad), ...buttons, element("span", {}, texts.good))
}

function comment(texts: Strings, send: (said: string) => Promise<void>): HTMLElement {
  const field = element("textarea", { rows: "2", "aria-label": texts.more, placeholder: texts.more, dir: "auto" })
  field.maxLength = widgetLimits.ratingCharacters
  const button = element("button", { type: "submit" }, texts.send)
  const form = element("form", { class: "more" }, field, button)
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const said = field.value.trim()
    if (!said) return
    button.disabled = true
    void send(said)
  })
  return form
}
