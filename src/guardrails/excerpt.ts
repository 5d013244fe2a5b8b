import { guardrailLimits } from "./limits.js"
import { joined, replaced, type Span } from "./span.js"

const { excerptCharacters, excerptStartCharacters } = guardrailLimits

/** The text around what a rule found, without it and without anything else that is hidden. */
export const excerptAt = (text: string, { start, end }: Span, hidden: Span[]): string =>
  excerpt(text, start - excerptCharacters, end + excerptCharacters, hidden)

/** The beginning of a text in which a rule found nothing at a place; null when the text is empty. */
export const excerptOfStart = (text: string, hidden: Span[]): string | null => excerpt(text, 0, excerptStartCharacters, hidden) || null

/** A part of a text, with an ellipsis where it is cut; a hidden part is never cut. */
function excerpt(text: string, first: number, last: number, hidden: Span[]): string {
  const parts = joined(hidden)
  const cutBy = (index: number) => parts.find(({ start, end }) => start < index && index < end)
  const from = Math.max(0, whole(text, cutBy(first)?.start ?? first))
  const to = Math.min(text.length, whole(text, cutBy(last)?.end ?? last))
  const inside = parts.filter(({ start, end }) => start >= from && end <= to)
  const shown = replaced(
    text.slice(from, to),
    inside.map(({ start, end, reason }) => ({ start: start - from, end: end - from, reason })),
  )
  return `${from > 0 ? "…" : ""}${shown.toWellFormed().trim()}${to < text.length ? "…" : ""}`
}

/** An index that is not between the two halves of a character. */
const whole = (text: string, index: number) => (/[\uDC00-\uDFFF]/.test(text[index] ?? "") ? index - 1 : index)
