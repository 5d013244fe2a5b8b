import { extractTextItems, getDocumentProxy, type StructuredTextItem } from "unpdf"
import { tableText } from "./table.js"

/** One line of a page, split into cells at wide gaps. */
interface Line {
  cells: string[]
  size: number
  x: number
  y: number
}

/** Converts a PDF to blocks of Markdown. A PDF has only letters and positions, so headings, lists, tables and paragraphs are guessed. */
export async function pdfBlocks(bytes: Uint8Array): Promise<string[]> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const { items } = await extractTextItems(document)
  const pages = items.map((page) => linesOf(page))
  const level = headingLevels(pages.flat())
  return pages.flatMap((page) => groups(page).map((lines) => blockOf(lines, level(lines[0]!.size))))
}

/** Gap that separates two cells, in letter heights. */
const cellGap = 1.5

function linesOf(items: StructuredTextItem[]): Line[] {
  const lines: Line[] = []
  let line: Line | undefined
  for (const { str, x, y, width, fontSize, hasEOL } of items) {
    const isBlank = str.trim() === ""
    if (!isBlank && !line) {
      line = { cells: [""], size: fontSize, x, y }
      lines.push(line)
    }
    // A footnote number is smaller: the size of a line is that of its largest letters.
    if (!isBlank && line && fontSize > line.size) Object.assign(line, { size: fontSize, y })
    if (line && isBlank && width > cellGap * fontSize) line.cells.push("")
    else if (line) line.cells.push(line.cells.pop() + str)
    if (hasEOL) line = undefined
  }
  return lines.map((each) => ({ ...each, cells: each.cells.map((cell) => cell.trim()).filter((cell) => cell !== "") }))
}

const textOf = (line: Line) => line.cells.join(" ")

/** Letter sizes larger than the most common one are headings; the largest is the first level. */
function headingLevels(lines: Line[]): (size: number) => number | null {
  const letters = new Map<number, number>()
  for (const line of lines) letters.set(rounded(line.size), (letters.get(rounded(line.size)) ?? 0) + textOf(line).length)
  const [body = 0] = [...letters.keys()].sort((one, other) => letters.get(other)! - letters.get(one)!)
  const larger = [...letters.keys()].filter((size) => size > body * 1.1).sort((one, other) => other - one)
  return (size) => (larger.includes(rounded(size)) ? Math.min(larger.indexOf(rounded(size)) + 1, 6) : null)
}

const rounded = (size: number) => Math.round(size * 2) / 2

const bullet = /^[•◦▪‣●○■□∙·–—-](?=\s|$)\s*/
const item = /^([•◦▪‣●○■□∙·–—-](?=\s|$)|(\d{1,2}|[a-z])[.)](?=\s))/

/** Groups the lines of a page: each group is a heading, a paragraph, an item of a list, or a table. */
function groups(lines: Line[]): Line[][] {
  const all: Line[][] = []
  for (const line of lines) {
    const before = all.at(-1)?.at(-1)
    if (before && isContinued(before, line, all.at(-1)!)) all.at(-1)!.push(line)
    else all.push([line])
  }
  return all
}

function isContinued(before: Line, line: Line, group: Line[]): boolean {
  const step = before.y - line.y
  if (rounded(before.size) !== rounded(line.size) || step <= 0 || item.test(textOf(line))) return false
  const isTable = isRow(before) && isRow(line)
  // Table rows are farther apart than lines of a paragraph.
  if (isTable || isRow(before) !== isRow(line)) return isTable && step < 3 * line.size
  // A line continues a paragraph if its distance is the same as that of the lines before, and it is not indented after a full stop.
  const usual = group.length > 1 ? (group[0]!.y - before.y) / (group.length - 1) : 1.45 * line.size
  const isIndented = /[.!?:]$/.test(textOf(before)) && line.x > before.x + line.size / 2
  return step < usual * 1.2 && !isIndented
}

const isRow = (line: Line) => line.cells.length > 1 && !item.test(textOf(line))

function blockOf(lines: Line[], level: number | null): string {
  if (lines.length > 1 && isRow(lines[0]!)) return tableText(lines.map(({ cells }) => cells))
  const text = lines.map(textOf).reduce(joined)
  if (level && text.length < 200 && !/[.,;:]$/.test(text)) return `${"#".repeat(level)} ${text}`
  return text.replace(bullet, "- ")
}

/** Joins two lines: removes a hyphen that splits a word, and adds no space in scripts without spaces. */
function joined(one: string, next: string): string {
  if (/\p{L}[-\u2010]$/u.test(one) && /^\p{Ll}/u.test(next)) return one.slice(0, -1) + next
  const isUnspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}。、！？]$/u.test(one)
  return isUnspaced ? one + next : `${one} ${next}`
}
