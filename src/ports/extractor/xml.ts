import { Parser } from "htmlparser2"
import { limits } from "../../limits.js"
import { ExtractionFailure } from "../extractor.js"

/** An element of a document's XML. Its name and those of its attributes have no prefix, except for `r:`, that of references to other parts. */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: (Element | string)[]
}

/** A parser for the XML of one document, which counts the elements of all its parts together. It answers the root element. */
export function xmlParser(): (xml: string) => Element | undefined {
  let elements = 0
  return (xml) => {
    const top: Element = { name: "", attributes: {}, children: [] }
    const open = [top]
    const parser = new Parser(
      {
        onopentag(name, attributes) {
          elements += 1
          if (elements > limits.documentElements) throw new ExtractionFailure("is too large to be read: split it")
          if (open.length > limits.documentDepth) throw new ExtractionFailure("is nested too deeply to be read")
          const element = { name: local(name), attributes: localKeys(attributes), children: [] }
          open.at(-1)!.children.push(element)
          open.push(element)
        },
        ontext: (text) => void open.at(-1)!.children.push(text),
        onclosetag() {
          const { name } = open.pop()!
          // The same once more, for programs that do not understand the `Choice` beside it.
          if (name === "Fallback") open.at(-1)!.children.pop()
        },
      },
      { xmlMode: true },
    )
    parser.write(xml)
    if (open.length > 1) throw new Error("ends too early")
    parser.end()
    return childrenOf(top)[0]
  }
}

const local = (name: string) => name.slice(name.indexOf(":") + 1)

const localKeys = (attributes: Record<string, string>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.startsWith("r:") ? name : local(name), value]))

/** The elements among an element's children, of one name if one is given. */
export const childrenOf = (element: Element | undefined, name?: string): Element[] =>
  (element?.children ?? []).filter((child): child is Element => typeof child !== "string" && (name === undefined || child.name === name))

/** The element at a path of names below an element. */
export const childOf = (element: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((parent, name) => childrenOf(parent, name)[0], element)

/** The elements of a name below an element, without those inside one another. */
export const below = (element: Element | undefined, name: string): Element[] =>
  childrenOf(element).flatMap((child) => (child.name === name ? [child] : below(child, name)))

/** What besides `t` stands for text in documents and slides. */
const characters: Record<string, string> = { br: "\n", cr: "\n", tab: "\t", noBreakHyphen: "-" }

/** Has text that is not the paragraph's own: deleted, a reading of characters (ruby), a field's instruction, or a text box, with its own paragraphs. */
const notRead = new Set(["del", "moveFrom", "rt", "rPh", "instrText", "txbxContent", "pPr", "rPr"])

/** The text of a paragraph, or of a string in a workbook. */
export function textOf(element: Element | undefined): string {
  if (element?.name === "t") return element.children.filter((child) => typeof child === "string").join("")
  const texts = childrenOf(element).map((child) => (notRead.has(child.name) ? "" : (characters[child.name] ?? textOf(child))))
  return texts.join("")
}
