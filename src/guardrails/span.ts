import { mask } from "./rule.js"

/** A part of a text as it was written, and why a rule found it. */
export interface Span {
  start: number
  end: number
  reason: string
}

/** A text with parts replaced; parts that overlap are replaced together. */
export function replaced(text: string, spans: Span[]): string {
  if (spans.length === 0) return text
  let [result, from] = ["", 0]
  for (const { start, end } of joined(spans)) {
    result += text.slice(from, start) + mask
    from = end
  }
  return result + text.slice(from)
}

/** The same parts in their order, those that overlap as one. */
export function joined(spans: Span[]): Span[] {
  const all: Span[] = []
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = all.at(-1)
    if (last && span.start < last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, span.end) }
    else all.push(span)
  }
  return all
}
