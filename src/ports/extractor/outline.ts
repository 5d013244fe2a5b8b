import type { OfficeContentNode } from "officeparser"
import { tableText } from "./table.js"

/** A document's parts as Markdown: headings, paragraphs, lists and tables, and nothing of its looks. */
export const outline = (nodes: OfficeContentNode[]): string => nodes.flatMap(blocks).join("\n\n")

const meta = (node: OfficeContentNode) => (node.metadata ?? {}) as Record<string, unknown>
const said = (node: OfficeContentNode): string => (node.text ?? (node.children ?? []).map(said).join("")).trim()
const some = (text: string) => (text === "" ? [] : [text])

/** A node as blocks of text, with the notes that hang on it. */
function blocks(node: OfficeContentNode): string[] {
  return [...body(node), ...(node.notes ?? []).flatMap((note) => some(said(note)))]
}

function body(node: OfficeContentNode): string[] {
  const children = node.children ?? []
  switch (node.type) {
    case "heading":
      return some(said(node)).map((text) => `${"#".repeat(Math.min(Number(meta(node)["level"] ?? 1), 6))} ${text}`)
    case "list":
      return some(said(node)).map((text) => `${"  ".repeat(Number(meta(node)["indentation"] ?? 0))}- ${text}`)
    case "table":
      return some(tableText(cellsOf(node)))
    case "sheet":
      return some(tableText(cellsOf(node))).flatMap((text) => [`# ${String(meta(node)["sheetName"] ?? "")}`, text])
    case "slide":
    case "page":
    case "admonition":
    case "definitionList":
      return children.flatMap(blocks)
    case "image":
    case "drawing":
    case "break":
    case "comment":
    case "embed":
      return []
    default:
      return some(said(node))
  }
}

const cellsOf = (table: OfficeContentNode) =>
  (table.children ?? []).map((row) => (row.children ?? []).map((cell) => said(cell).replace(/\s+/g, " ")))
