import { dirname, posix } from "node:path"
import { unzipSync } from "fflate"
import { ExtractionFailure } from "../extractor.js"
import { childrenOf, type Element, ownText, parseXml } from "../kit/xml.js"
import { portLimits } from "../limits.js"
import { decoded } from "./plain.js"

/** What a part says of another: an id to refer to it by, what it is to this one, and its path. */
interface Relation {
  id: string
  type: string
  path: string
}

/** An office file (Office Open XML): a ZIP archive of XML parts that refer to each other. */
export interface OfficePackage {
  /** The path of the part that all others hang on. */
  main: string
  /** A part's root element, if there is such a part. */
  part(path: string): Element | undefined
  /** What a part says of others. */
  relations(path: string): Relation[]
  /** The parts that are something to a part, such as its `notesSlide`. */
  related(path: string, type: string): Element[]
}

/** Opens an office file. Throws an `ExtractionFailure` that says why not; any other error means that the file is damaged. */
export function openPackage(bytes: Uint8Array): OfficePackage {
  // An encrypted file lies in a container of the binary formats.
  if (Buffer.from(bytes.subarray(0, 4)).toString("hex") === "d0cf11e0") throw new ExtractionFailure("is protected by a password")
  const parts = unzipped(bytes)
  let elements = 0
  const check = (depth: number) => {
    elements += 1
    if (elements > portLimits.documentElements) throw new ExtractionFailure("is too large to be read: split it")
    if (depth > portLimits.documentDepth) throw new ExtractionFailure("is nested too deeply to be read")
  }
  const part = (path: string) => (parts[path] ? parseXml(decoded(parts[path], "utf-8"), check) : undefined)
  const relations = (path: string) =>
    childrenOf(part(posix.join(dirname(path), "_rels", `${posix.basename(path)}.rels`)), "Relationship")
      .filter(({ attributes }) => attributes["TargetMode"] !== "External")
      .map(({ attributes }) => ({
        id: attributes["Id"] ?? "",
        type: posix.basename(attributes["Type"] ?? ""),
        path: posix.resolve("/", dirname(path), attributes["Target"] ?? "").slice(1),
      }))
  const related = (path: string, type: string) =>
    relations(path).flatMap((relation) => (relation.type === type ? (part(relation.path) ?? []) : []))
  const main = relations("").find(({ type }) => type === "officeDocument")
  if (!main) throw new Error("has no main part")
  return { main: main.path, part, relations, related }
}

/** The XML parts of an archive. A part that unpacks to more than its entry states is cut there. */
function unzipped(bytes: Uint8Array) {
  let size = 0
  return unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!/\.(xml|rels)$/.test(name)) return false
      size += originalSize
      if (size > portLimits.unpackedBytes) throw new ExtractionFailure("unpacks to far more than a document holds")
      return true
    },
  })
}

/** What besides `t` stands for text in documents and slides. */
const characters: Record<string, string> = { br: "\n", cr: "\n", tab: "\t", noBreakHyphen: "-" }

/** Has text that is not the paragraph's own: deleted, a reading of characters (ruby), a field's instruction, or a text box, with its own paragraphs. */
const notRead = new Set(["del", "moveFrom", "rt", "rPh", "instrText", "txbxContent", "pPr", "rPr"])

/** The text of a paragraph, or of a string in a workbook. */
export function textOf(element: Element | undefined): string {
  if (element?.name === "t") return ownText(element)
  return childrenOf(element)
    .map((child) => (notRead.has(child.name) ? "" : (characters[child.name] ?? textOf(child))))
    .join("")
}
