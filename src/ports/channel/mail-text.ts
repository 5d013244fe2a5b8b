import { Script } from "node:vm"
import EmailReplyParser from "email-reply-parser"
import { compile, type HtmlToTextOptions } from "html-to-text"
import { portLimits } from "../limits.js"

const selectors = [
  { selector: "img", format: "skip" },
  { selector: "a", options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
  ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
]
const options: HtmlToTextOptions = { wordwrap: false, selectors, limits: { maxDepth: portLimits.documentDepth } }

/** Quoted mails, as mail programs mark them, and the line above. */
const quotes = ["blockquote[type=cite]", ".gmail_quote", ".yahoo_quoted", "hr"].map((selector) => ({ selector, format: "skip" }))

/** Outlook marks only the head of the quoted mail, whose text follows it. Control characters do not occur in text. */
const restIsQuoted = "\u0001"
const head = { selector: "#divRplyFwdMsg", format: "restIsQuoted" }

const toText = compile(options)
const toOwnText = compile({
  ...options,
  selectors: [...selectors, ...quotes, head],
  formatters: { restIsQuoted: (_element, _walk, builder) => builder.addLiteral(restIsQuoted) },
})

/** What the writer of a mail wrote, without quoted mails and signature; all of it when nothing else is there. */
export function writtenText(text: string | null, html: string | null): string {
  const given = text?.trim() ? text : (html ?? "")
  const begin = given.slice(0, portLimits.mailCharacters)
  const written = given === text ? ofText(begin) : ofHtml(begin)
  return given.length > begin.length ? `${written}\n\n[the rest of the mail is not available]` : written
}

function ofText(text: string): string {
  const plain = tidy(text)
  return withoutQuotes(plain) || plain
}

function ofHtml(markup: string): string {
  if (!markup.trim()) return ""
  const own = inTime(() => toOwnText(markup).split(restIsQuoted, 1)[0]!)
  return (own && withoutQuotes(tidy(own))) || tidy((own !== null && inTime(() => toText(markup))) || "[unsupported: HTML]")
}

/** The mail as simple HTML. */
export function htmlOf(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return escaped
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph.replaceAll("\n", "<br>\n")}</p>`)
    .join("\n")
}

/** Without what the parser of replies takes very long for, and nobody reads: empty lines in a row, and spaces at the end of lines. */
const tidy = (text: string) =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll("\u00a0", " ")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

/** Without quoted mails and signature; the text itself when it cannot be told in time. Of a long text only the beginning is examined. */
function withoutQuotes(text: string): string {
  const begin = text.slice(0, portLimits.mailReplyText).trimEnd()
  const visible = inTime(() => new EmailReplyParser().parseReply(begin))?.trim() ?? begin
  const lastLine = visible.slice(visible.lastIndexOf("\n") + 1)
  const goesOn = text.length > begin.length && lastLine !== "" && begin.endsWith(lastLine)
  return goesOn ? visible + text.slice(begin.length) : withoutHead(visible, begin)
}

/** Without "… <shop@example.com> wrote:" above the quoted mail, in the languages that the parser does not know. */
function withoutHead(visible: string, text: string): string {
  const head = visible.slice(visible.lastIndexOf("\n\n") + 2)
  const isHead =
    head.endsWith(":") && /<[^<>\s@]+@[^<>\s]+>/.test(head) && [`${head}\n>`, `${head}\n\n>`].some((each) => text.includes(each))
  return isHead ? visible.slice(0, -head.length).trimEnd() : visible
}

const script = new Script("run()")

/**
 * The result of a function that reads what anybody sent; null when it takes too long. The regular expressions of the parser of replies can
 * take minutes for a few kilobytes; in a script they end in time.
 */
function inTime(run: () => string): string | null {
  try {
    return script.runInNewContext({ run }, { timeout: portLimits.mailTextMs })
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null
    throw error
  }
}
