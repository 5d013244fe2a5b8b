import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"
import Turndown from "turndown"
import { tableText } from "./table.js"

/** The extracted article is used if it has at least this share of the page's text; lists of questions or prices are not articles. */
const articleShare = 1 / 3

/** Returns the content of a page as Markdown, without navigation and other page elements. */
export function pageText(html: string): string {
  const { title, article } = read(html)
  const whole = markdown(html)
  const text = article && article.length >= whole.length * articleShare ? article : whole
  const isNamed = text.split("\n").some((line) => /^#+ /.test(line) && line.endsWith(` ${title}`))
  return text === "" || title === "" || isNamed ? text : `# ${title}\n\n${text}`
}

/** What is used of the parser's result, whose own type needs the types of a browser. */
interface ParsedPage {
  document: { querySelector(selector: string): { textContent: string | null } | null }
}

/** Reads the title of the page, and the part that looks like an article, if any. */
function read(html: string) {
  // The parser does not add missing elements: a page without a body element would be empty.
  const page = `<html><head></head><body>${html.replace(/<\/?(html|head|body)(?=[\s/>])[^>]*>/gi, "")}</body></html>`
  const { document } = parseHTML(page) as unknown as ParsedPage
  const title = document.querySelector("title")?.textContent?.replace(/\s+/g, " ").trim() ?? ""
  const found = new Readability(document as never, { charThreshold: 0 }).parse()
  return { title, article: found?.content ? markdown(found.content) : null }
}

/** Elements that contain no text of the page … */
const alwaysRemoved = new Set(
  "SCRIPT STYLE TITLE NOSCRIPT TEMPLATE SVG NAV ASIDE IFRAME DIALOG IMG PICTURE VIDEO AUDIO CANVAS BUTTON".split(" "),
)
/** … and elements that do only inside main and article. */
const removedOutsideArticle = new Set("HEADER FOOTER FORM".split(" "))

/** The parts of a parsed element that are used. */
interface Markup {
  textContent: string | null
  querySelectorAll(selector: string): ArrayLike<Markup>
}

const turndown = new Turndown({ headingStyle: "atx", bulletListMarker: "-", codeBlockStyle: "fenced" })
// The Markdown is not rendered, so characters such as those of prices are not escaped.
turndown.escape = (text) => text
turndown.addRule("words", { filter: ["a", "strong", "b", "em", "i"], replacement: (content) => content })
turndown.addRule("tables", {
  filter: "table",
  replacement: (content, node) => {
    const tx = (element: Markup, selector: string) => Array.from(element.querySelectorAll(selector))
    const table = node as unknown as Markup
    // A table that contains tables is only layout.
    if (tx(table, "table").length > 0) return `\n\n${content}\n\n`
    const cells = (row: Markup) => tx(row, "th, td").map((cell) => (cell.textContent ?? "").replace(/\s+/g, " ").trim())
    return `\n\n${tableText(tx(table, "tr").map(cells))}\n\n`
  },
})
turndown.addRule("furniture", {
  filter: (node) =>
    alwaysRemoved.has(node.nodeName.toUpperCase()) ||
    (removedOutsideArticle.has(node.nodeName) && !node.closest("main, article")) ||
    node.hasAttribute("hidden") ||
    node.getAttribute("aria-hidden") === "true",
  replacement: () => "",
})

const markdown = (html: string) =>
  turndown
    .turndown(html)
    .replace(/^(\s*-) +/gm, "$1 ")
    .trim()
