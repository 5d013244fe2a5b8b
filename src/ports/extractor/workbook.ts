import { ExtractionFailure } from "../extractor.js"
import { childOf, childrenOf, type Element, ownText } from "../kit/xml.js"
import { portLimits } from "../limits.js"
import { type OfficePackage, textOf } from "./ooxml.js"
import { tableText } from "./table.js"

/** Formats the number of a cell. */
type Show = (value: number) => string

/** Converts an Excel file to blocks of Markdown: the name of each sheet that is not empty, and its rows. */
export function workbookBlocks(file: OfficePackage): string[] {
  const book = file.part(file.main)
  const paths = new Map(file.relations(file.main).map(({ id, path }) => [id, path]))
  const strings = file.related(file.main, "sharedStrings").flatMap((part) => childrenOf(part, "si").map(textOf))
  const formats = formatsOf(file, isTrue(childOf(book, "workbookPr")?.attributes["date1904"]))
  let cells = 0

  function row(element: Element): string[] {
    const values: string[] = []
    for (const cell of childrenOf(element, "c")) {
      const column = columnOf(cell.attributes["r"]) ?? values.length
      cells += Math.max(column - values.length, 0) + 1
      if (cells > portLimits.workbookCells) throw new ExtractionFailure("is too large to be read: split it")
      while (values.length < column) values.push("")
      values[column] = shownValue(cell, strings, formats).replace(/\s+/g, " ").trim()
    }
    return values
  }

  return childrenOf(childOf(book, "sheets"), "sheet").flatMap(({ attributes }) => {
    const data = childOf(file.part(paths.get(attributes["r:id"] ?? "") ?? ""), "sheetData")
    const text = tableText(childrenOf(data, "row").map(row))
    return text === "" ? [] : [`# ${attributes["name"]}`, text]
  })
}

const isTrue = (value: string | undefined) => value === "1" || value === "true"

/** The column of a reference such as `AB12`, counted from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference ?? "") ?? []
  return letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function shownValue(cell: Element, strings: string[], formats: Show[]): string {
  const { t: type, s: style } = cell.attributes
  if (type === "inlineStr") return textOf(childOf(cell, "is"))
  const value = ownText(childOf(cell, "v"))
  if (value === "") return ""
  if (type === "s") return strings[Number(value)] ?? ""
  if (type === "b") return isTrue(value) ? "TRUE" : "FALSE"
  const number = Number(value)
  return (type === undefined || type === "n") && Number.isFinite(number) ? (formats[Number(style ?? 0)] ?? String)(number) : value
}

/** IDs of built-in formats of dates and times, which files use without declaring them. */
const builtInDates = /^(1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/

/** Number formats by the style of a cell. */
function formatsOf(file: OfficePackage, from1904: boolean): Show[] {
  const [sheet] = file.related(file.main, "styles")
  const codes = new Map(
    childrenOf(childOf(sheet, "numFmts"), "numFmt").map(({ attributes }) => [attributes["numFmtId"], attributes["formatCode"]]),
  )
  return childrenOf(childOf(sheet, "cellXfs"), "xf").map(({ attributes }) => {
    const id = attributes["numFmtId"] ?? "0"
    // Removes literal text and colors, whose letters could look like date codes.
    const code = (codes.get(id) ?? "").replace(/"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]/gi, "")
    if (builtInDates.test(id) || /[dyhs]|m(?!ain)/i.test(code.replace(/general/i, ""))) return (value) => dateText(value, from1904)
    return /^(9|10)$/.test(id) || code.includes("%") ? (value) => `${Number((value * 100).toPrecision(15))}%` : String
  })
}

/** Start dates of a workbook's day count. The usual count has a 29 February 1900, which did not exist. */
const epochs = { usual: Date.parse("1899-12-30T00:00Z"), of1904: Date.parse("1904-01-01T00:00Z") }

/** Formats a number of days, such as 45356.5, as date and time, without empty parts. */
function dateText(days: number, from1904: boolean): string {
  const seconds = Math.round(days * 24 * 60 * 60)
  const time = new Date((from1904 ? epochs.of1904 : epochs.usual) + seconds * 1000)
  if (Number.isNaN(time.getTime())) return String(days)
  const [date = "", clock = ""] = time
    .toISOString()
    .replace(/(:00)?\.000Z$/, "")
    .split("T")
  return [days >= 1 && date, (days < 1 || clock !== "00:00") && clock].filter(Boolean).join(" ")
}
