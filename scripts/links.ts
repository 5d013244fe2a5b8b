import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"

/** Paths of the files below a folder of a repository; none where there is no such folder. */
const below = (root: string, folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))
    : []

/** Folders of packages: an example was tried where it is. */
const packages = /[\\/](node_modules|\.?venv)[\\/]/

/** The Markdown files whose links are checked: those of a repository's root, all below docs/, and each README.md of the code. */
function pages(root: string): string[] {
  const ofCode = ["src", "test", "scripts"].flatMap((folder) => below(root, folder)).filter((path) => basename(path) === "README.md")
  const ofDocs = below(root, "docs").filter((path) => !packages.test(path))
  return [...readdirSync(root), ...ofDocs, ...ofCode].filter((name) => name.endsWith(".md")).sort()
}

/** One sentence for each relative link to a file, or to a heading of a file, that does not exist. Links to other sites are not followed. */
export function brokenLinks(root: string): string[] {
  const anchors = new Map<string, Set<string>>()
  const anchorsOf = (path: string) => {
    if (!anchors.has(path)) anchors.set(path, headings(readFileSync(path, "utf8")))
    return anchors.get(path)!
  }
  return pages(root).flatMap((page) =>
    links(readFileSync(join(root, page), "utf8")).flatMap(({ target, line }) => {
      const fault = faultOf(target, resolve(root), join(resolve(root), page), anchorsOf)
      return fault ? [`${page}:${line}: the link ${target} ${fault}`] : []
    }),
  )
}

/** What is wrong with a link; null when it leads somewhere, or to another site. */
function faultOf(target: string, root: string, page: string, anchorsOf: (path: string) => Set<string>): string | null {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return null
  if (/%(?![0-9a-f]{2})/i.test(target)) return "is not correctly percent-encoded"
  const [file = "", anchor] = decodeURIComponent(target).split("#") as [string, string?]
  const path = file === "" ? page : file.startsWith("/") ? join(root, file) : resolve(dirname(page), file)
  if (relative(root, path).startsWith("..")) return "leads out of the repository"
  if (!existsSync(path)) return "leads to a file that does not exist"
  if (!anchor || anchorsOfLines.test(anchor)) return null
  if (!path.endsWith(".md")) return "names a heading of a file that is no Markdown"
  return anchorsOf(path).has(anchor) ? null : "names a heading that does not exist"
}

/** Lines of source code, as GitHub names them. */
const anchorsOfLines = /^L\d+(-L\d+)?$/

/** The targets of links and images with their lines, in text, in definitions and in HTML; not those in code. */
function links(markdown: string): { target: string; line: number }[] {
  const text = withoutCode(markdown)
  const inline = /\]\(\s*<?([^\s<>)]+(?:\([^\s()]*\)[^\s<>)]*)?)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g
  const defined = /^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s<>]+)>?/gm
  const html = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g
  return [inline, defined, html]
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ 1: target, index }) => ({ target: target!, line: text.slice(0, index).split("\n").length }))
    .sort((a, b) => a.line - b.line)
}

/** The anchors of a page: GitHub's, of its headings, and those of HTML elements. */
export function headings(markdown: string): Set<string> {
  const text = withoutCode(markdown, (span) => span.replaceAll("`", ""))
  const found = new Set([...text.matchAll(/<[a-z]+\b[^>]*?\b(?:id|name)="([^"]+)"/g)].map(([, id]) => id!))
  const repeated = new Map<string, number>()
  for (const [, heading] of text.matchAll(/^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$/gm)) {
    const slug = heading!
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-")
    const before = repeated.get(slug) ?? 0
    repeated.set(slug, before + 1)
    found.add(before === 0 ? slug : `${slug}-${before}`)
  }
  return found
}

/** Empties fenced blocks and, by default, spans of code; lines keep their numbers. */
function withoutCode(markdown: string, span = (_code: string) => ""): string {
  const blocks = /^[ \t]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm
  return markdown
    .replaceAll("\r\n", "\n")
    .replace(blocks, (block) => block.replace(/[^\n]/g, ""))
    .replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, span)
}

if (import.meta.main) {
  const broken = brokenLinks(".")
  for (const sentence of broken) process.stderr.write(`${sentence}\n`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
