import { element } from "./dom.js"

/**
 * A safe subset of Markdown as DOM nodes: paragraphs, line breaks, lists, code, bold, italic and links. HTML is shown as text; a link that is
 * not http, https or mailto too.
 */
export function markdown(text: string): DocumentFragment {
  const made = document.createDocumentFragment()
  // Code between fences first: nothing in it means anything.
  const parts = text.replace(/\r\n?/g, "\n").split(/^```.*\n([\s\S]*?)(?:^```[ \t]*$|(?![\s\S]))/m)
  parts.forEach((part, index) => {
    if (index % 2) made.append(element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, part.replace(/\n$/, ""))))
    else made.append(...part.split(/\n\s*\n/).flatMap(blocks))
  })
  return made
}

const item = /^\s{0,3}(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/

/** The paragraphs and lists among lines without an empty one. */
function blocks(part: string): Node[] {
  const made: HTMLElement[] = []
  for (const line of part.split("\n")) {
    if (!line.trim()) continue
    const [, bullet, number, content] = item.exec(line) ?? []
    const heading = /^#{1,6}\s+(.*?)#*$/.exec(line)?.[1]
    const last = made.at(-1)
    if (content !== undefined) {
      const name = bullet ? "ul" : "ol"
      const isSame = last?.localName === name
      const list = isSame ? last! : element(name, number && number !== "1" ? { start: number } : {})
      list.append(element("li", {}, ...inline(content)))
      if (!isSame) made.push(list)
    } else if (heading !== undefined) made.push(element("p", {}, element("strong", {}, ...inline(heading))))
    else if (last?.localName === "p") last.append(element("br"), ...inline(line))
    else made.push(element("p", {}, ...inline(line)))
  }
  return made
}

const token =
  /`([^`\n]+)`|\[([^\]\n]{1,500})\]\(([^\s()]{1,2000}(?:\([^\s()]{0,500}\))?[^\s()]{0,500})\)|(https?:\/\/[^\s<>"']{1,2000}[^\s<>"'.,;:!?)\]*_])|\*\*(?=\S)([^\n]{1,2000}?\S?)\*\*|(?<![\w*])([*_])(?=\S)([^\n*_]{1,2000}?)(?<=\S)\6(?!\w)/g

/** The parts of a line. */
function inline(text: string): (Node | string)[] {
  const made: (Node | string)[] = []
  let at = 0
  for (const found of text.matchAll(token)) {
    const [whole, code, label, target, url, bold, , italic] = found
    if (found.index > at) made.push(text.slice(at, found.index))
    at = found.index + whole.length
    if (code !== undefined) made.push(element("code", {}, code))
    else if (label !== undefined) made.push(link(target!, inlineWithoutLinks(label), whole))
    else if (url !== undefined) made.push(link(url, [url], whole))
    else if (bold !== undefined) made.push(element("strong", {}, ...inline(bold)))
    else made.push(element("em", {}, ...inline(italic!)))
  }
  if (at < text.length) made.push(text.slice(at))
  return made
}

const inlineWithoutLinks = (label: string) => [label.replace(/[*_`]/g, "")]

/** A link to another page; the text as it was written when its scheme is not allowed. */
function link(target: string, content: string[], written: string): Node | string {
  const isAllowed = /^(https?:\/\/|mailto:)/i.test(target) && URL.canParse(target)
  return isAllowed ? element("a", { href: target, target: "_blank", rel: "noopener noreferrer nofollow" }, ...content) : written
}
