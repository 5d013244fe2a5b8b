import { below, childOf, childrenOf, type Element } from "../kit/xml.js"
import { type OfficePackage, textOf } from "./ooxml.js"
import { tableText } from "./table.js"

/** Converts a PowerPoint file to blocks of Markdown: the slides in order, each with its speaker notes. */
export function slideBlocks(file: OfficePackage): string[] {
  const slides = new Map(file.relations(file.main).map(({ id, path }) => [id, path]))
  const ids = childrenOf(childOf(file.part(file.main), "sldIdLst"), "sldId").map(({ attributes }) => attributes["r:id"] ?? "")
  return ids.flatMap((id) => slideOf(file, slides.get(id) ?? ""))
}

function slideOf(file: OfficePackage, path: string): string[] {
  const tree = (slide: Element | undefined) => childOf(slide, "cSld", "spTree")
  const notes = file.related(path, "notesSlide").flatMap((part) => below(tree(part), "sp").filter((shape) => kindOf(shape) === "body"))
  const diagrams = file.related(path, "diagramData").flatMap((part) => below(part, "p"))
  return [...shapes(tree(file.part(path))), ...diagrams.map(paragraph), ...notes.flatMap(shape)]
}

const shapes = (parent: Element | undefined): string[] =>
  childrenOf(parent).flatMap((element) => {
    if (element.name === "sp") return shape(element)
    if (element.name === "tbl") return tableText(childrenOf(element, "tr").map(cells))
    return shapes(element)
  })

const cells = (row: Element) => childrenOf(row, "tc").map((cell) => below(cell, "p").map(textOf).join(" ").replace(/\s+/g, " ").trim())

/** The role of a shape on its slide, if it is a placeholder. */
const kindOf = (element: Element) => below(element, "ph")[0]?.attributes["type"] ?? (below(element, "ph").length > 0 ? "body" : undefined)

function shape(element: Element): string[] {
  const kind = kindOf(element) ?? ""
  if (["sldNum", "dt", "ftr", "hdr"].includes(kind)) return []
  const paragraphs = childrenOf(childOf(element, "txBody"), "p")
  if (kind !== "title" && kind !== "ctrTitle") return paragraphs.map(paragraph)
  const title = paragraphs.map(textOf).join(" ").replace(/\s+/g, " ").trim()
  return [title === "" ? "" : `# ${title}`]
}

/** Converts a paragraph; one with a bullet or an indent is an item of a list. */
function paragraph(element: Element): string {
  const text = textOf(element).trim()
  const properties = childOf(element, "pPr")
  const depth = Number(properties?.attributes["lvl"] ?? 0)
  const isItem = childOf(properties, "buNone") ? false : depth > 0 || childOf(properties, "buChar") || childOf(properties, "buAutoNum")
  return isItem && text !== "" ? `${"  ".repeat(depth)}- ${text}` : text
}
