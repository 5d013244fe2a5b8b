import { below, childOf, childrenOf, type Element } from "../kit/xml.js"
import { type OfficePackage, textOf } from "./ooxml.js"
import { tableText } from "./table.js"

/** The role of a paragraph by its style: a heading of a level, or an item of a list at a depth. */
interface Style {
  heading?: number | undefined
  depth?: number | undefined
}

/** Converts a Word file to blocks of Markdown: headings, paragraphs, lists and tables. Notes follow the paragraph that refers to them. */
export function wordBlocks(file: OfficePackage): string[] {
  const styles = stylesOf(file)
  const notes = notesOf(file)

  const blocks = (parent: Element | undefined): string[] =>
    childrenOf(parent).flatMap((element) => {
      if (element.name === "p") return paragraph(element)
      if (element.name === "tbl") return tableText(below(element, "tr").map(cells))
      return element.name === "del" || element.name === "moveFrom" ? [] : blocks(element)
    })

  function paragraph(element: Element): string[] {
    const { heading, depth } = styleOf(childOf(element, "pPr"), styles)
    const text = textOf(element).trim()
    const line = heading
      ? `${"#".repeat(heading)} ${text.replace(/\s+/g, " ")}`
      : depth === undefined
        ? text
        : `${"  ".repeat(depth)}- ${text}`
    const boxes = below(element, "txbxContent").flatMap(blocks)
    const referred = [...notes].flatMap(([reference, byId]) =>
      below(element, reference).flatMap(({ attributes }) => blocks(byId.get(attributes["id"]))),
    )
    return [text === "" ? "" : line, ...boxes, ...referred]
  }

  const cells = (row: Element) =>
    childrenOf(row, "tc").flatMap((cell) => {
      const covered = Number(childOf(cell, "tcPr", "gridSpan")?.attributes["val"] ?? 1) - 1
      return [blocks(cell).join(" ").replace(/\s+/g, " ").trim(), ...Array<string>(Math.max(covered, 0)).fill("")]
    })

  return blocks(childOf(file.part(file.main), "body"))
}

/** Footnotes and endnotes by ID, under the name of the element that refers to them. */
function notesOf(file: OfficePackage) {
  const byId = (kind: string) =>
    new Map(
      file
        .related(file.main, `${kind}s`)
        .flatMap((part) => childrenOf(part, kind))
        .map((note) => [note.attributes["id"], note]),
    )
  return new Map([
    ["footnoteReference", byId("footnote")],
    ["endnoteReference", byId("endnote")],
  ])
}

/** Paragraph styles of a file by ID, including what they inherit. */
function stylesOf(file: OfficePackage): Map<string, Style> {
  const all = file.related(file.main, "styles").flatMap((part) => childrenOf(part, "style"))
  const byId = new Map(all.map((style) => [style.attributes["styleId"] ?? "", style]))
  const of = (id: string, seen: string[] = []): Style => {
    const style = byId.get(id)
    if (!style || seen.includes(id)) return {}
    const base = of(childOf(style, "basedOn")?.attributes["val"] ?? "", [...seen, id])
    const name = childOf(style, "name")?.attributes["val"] ?? ""
    return { ...base, ...named(name), ...own(childOf(style, "pPr")) }
  }
  return new Map([...byId.keys()].map((id) => [id, of(id)]))
}

/** Built-in styles are recognized by name, which is the same in every language, unlike the ID. */
function named(name: string): Style {
  const [, level] = /^heading ([1-9])$/i.exec(name) ?? []
  return level ? { heading: Math.min(Number(level), 6) } : name.toLowerCase() === "title" ? { heading: 1 } : {}
}

/** The role from a paragraph's own properties; outline level 9 is body text, and list 0 is none. */
function own(properties: Element | undefined): Style {
  const level = childOf(properties, "outlineLvl")?.attributes["val"]
  const list = childOf(properties, "numPr")
  const id = childOf(list, "numId")?.attributes["val"]
  return {
    ...(level !== undefined && { heading: Number(level) < 9 ? Math.min(Number(level) + 1, 6) : undefined }),
    ...(id !== undefined && { depth: id === "0" ? undefined : Number(childOf(list, "ilvl")?.attributes["val"] ?? 0) }),
  }
}

/** The role of a paragraph. Files without styles still refer to the built-in ones. */
function styleOf(properties: Element | undefined, styles: Map<string, Style>): Style {
  const id = childOf(properties, "pStyle")?.attributes["val"] ?? ""
  return { ...(styles.get(id) ?? named(id.replace(/^(heading)([1-9])$/i, "$1 $2"))), ...own(properties) }
}
