import { dirname, posix } from "node:path"
import { unzipSync } from "fflate"
import { ExtractionFailure } from "../extractor.js"
import { childrenOf, type Element, ownText, parseXml } from "../kit/xml.js"
import { portLimits } from "../limits.js"
import { decoded } from "./plain.js"

/** A relationship between parts: its ID, its type and the path of the target. */
interface Relation {
  id: string
  type: string
  path: string
}

/** An office file (Office Open XML): a ZIP archive of XML parts that refer to each other. */
export interface OfficePackage {
  /** Path of the main part, to which all others are related. */
  main: string
  /** Returns the root element of a part, if the part exists. */
  part(path: string): Element | undefined
  /** Relationships of a part. */
  relations(path: string): Relation[]
  /** Parts that are related to a part by a type, such as `notesSlide`. */
  related(path: string, type: string): Element[]
}

/** Opens an office file. Throws an `ExtractionFailure` with the reason; any other error means that the file is damaged. */
export function openPackage(bytes: Uint8Array): OfficePackage {
  // An encrypted file is inside a container of the binary formats.
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

/** Reads the XML parts of an archive. Data beyond the size that an entry declares is cut off. */
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

/** Elements besides `t` that represent characters in documents and slides. */
const characters = new Map([
  ["br", "\n"],
  ["cr", "\n"],
  ["tab", "\t"],
  ["noBreakHyphen", "-"],
])

/** Elements with other text: deletions, ruby readings, field instructions, and text boxes, which have paragraphs of their own. */
const notRead = new Set(["del", "moveFrom", "rt", "rPh", "instrText", "txbxContent", "pPr", "rPr"])

/** Returns the text of a paragraph, or of a string in a workbook. */
export function textOf(element: Element | undefined): string {
  if (element?.name === "t") return ownText(element)
  return childrenOf(element)
    .map((child) => (notRead.has(child.name) ? "" : (characters.get(child.name) ?? textOf(child))))
    .join("")
}
