/** Beginnings of HTML by which browsers detect it (WHATWG MIME Sniffing, section 7.1). */
const htmlBeginnings =
  /^<(!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|img|object|embed|form|frameset|base)(?![\w:.-])/i

/**
 * What kind of markup a text is, by its first element: comments, processing instructions and a document type before it are skipped, never
 * interpreted, in one pass.
 */
export function markupOf(text: string): "svg" | "html" | null {
  let rest = text.replace(/^\ufeff/, "").trimStart()
  // As browsers do: a leading comment means HTML, unless an SVG follows.
  let isMarkup = false
  for (;;) {
    if (htmlBeginnings.test(rest)) return "html"
    const length = passedOver(rest)
    if (length === 0) break
    isMarkup ||= rest.startsWith("<!--")
    rest = rest.slice(length).trimStart()
  }
  const root = /^<([\w.-]+:)?([\w.-]+)(?=[\s/>])/.exec(rest)?.[2]
  if (root?.toLowerCase() === "svg") return "svg"
  return root?.toLowerCase() === "html" || isMarkup ? "html" : null
}

/** Length of a comment, instruction or document type at the start; 0 when there is none. */
function passedOver(text: string): number {
  if (text.startsWith("<!--")) return endOf(text, "-->")
  if (text.startsWith("<?")) return endOf(text, "?>")
  if (/^<!doctype\s/i.test(text)) return doctypeLength(text)
  return 0
}

function endOf(text: string, end: string): number {
  const at = text.indexOf(end)
  return at < 0 ? text.length : at + end.length
}

/** A document type ends at the first ">" outside its quotes and its internal subset. */
function doctypeLength(text: string): number {
  let quote: string | null = null
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!
    if (quote) quote = character === quote ? null : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === "[") depth += 1
    else if (character === "]") depth -= 1
    else if (character === ">" && depth === 0) return at + 1
  }
  return text.length
}
