import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"
import Turndown from "turndown"
import { tableText } from "./table.js"

/** The article is believed when it has at least this share of the page's text: a list of questions or prices is none. */
const articleShare = 1 / 3

/** What a page says, in Markdown, without what is around it. */
export function pageText(html: string): string {
  const { title, article } = read(html)
  const whole = markdown(html)
  const text = article && article.length >= whole.length * articleShare ? article : whole
  const isNamed = text.split("\n").some((line) => /^#+ /.test(line) && line.endsWith(` ${title}`))
  return text === "" || title === "" || isNamed ? text : `# ${title}\n\n${text}`
}

/** The page's title, and the part of it that reads like an article, if there is one. */
function read(html: string) {
  // The parser leaves a page as it is; one that does not say where its body begins would have an empty one.
  const { document } = parseHTML(`<html><head></head><body>${html.replace(/<\/?(html|head|body)(?=[\s/>])[^>]*>/gi, "")}</body></html>`)
  const title = document.querySelector("title")?.textContent?.replace(/\s+/g, " ").trim() ?? ""
  const found = new Readability(document as never, { charThreshold: 0 }).parse()
  return { title, article: found?.content ? markdown(found.content) : null }
}

/** What of a page is no text of it … */
const furniture = new Set(
  "SCRIPT STYLE TITLE NOSCRIPT TEMPLATE SVG NAV ASIDE IFRAME DIALOG IMG PICTURE VIDEO AUDIO CANVAS BUTTON".split(" "),
)
/** … and what is text only inside of what is the page's own. */
const frames = new Set("HEADER FOOTER FORM".split(" "))

/** What is used of an element of its parser. */
interface Markup {
  textContent: string | null
  querySelectorAll(selector: string): ArrayLike<Markup>
}

const turndown = new Turndown({ headingStyle: "atx", bulletListMarker: "-", codeBlockStyle: "fenced" })
// Nobody renders it: a price stays a price.
turndown.escape = (text) => text
turndown.addRule("words", { filter: ["a", "strong", "b", "em", "i"], replacement: (content) => content })
turndown.addRule("tables", {
  filter: "table",
  replacement: (content, node) => {
    const tx = (element: Markup, selector: string) => Array.from(element.querySelectorAll(selector))
    const table = node as unknown as Markup
    // A table around tables arranges the page and says nothing.
    if (tx(table, "table").length > 0) return `\n\n${content}\n\n`
    const cells = (row: Markup) => tx(row, "th, td").map((cell) => (cell.textContent ?? "").replace(/\s+/g, " ").trim())
    return `\n\n${tableText(tx(table, "tr").map(cells))}\n\n`
  },
})
turndown.addRule("furniture", {
  filter: (node) =>
    furniture.has(node.nodeName.toUpperCase()) ||
    (frames.has(node.nodeName) && !node.closest("main, article")) ||
    node.hasAttribute("hidden") ||
    node.getAttribute("aria-hidden") === "true",
  replacement: () => "",
})

const markdown = (html: string) =>
  turndown
    .turndown(html)
    .replace(/^(\s*-) +/gm, "$1 ")
    .trim()
