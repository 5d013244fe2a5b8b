import { Parser } from "htmlparser2"

/** An element of an XML document. Its name and those of its attributes have no prefix, except for `r:`, that of references in office files. */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: (Element | string)[]
}

/** The root element of a document. `onElement` hears of each element before it is kept, with its depth, and may throw. */
export function parseXml(xml: string, onElement: (depth: number) => void = () => {}): Element | undefined {
  const top: Element = { name: "", attributes: {}, children: [] }
  const open = [top]
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        onElement(open.length)
        const element = { name: local(name), attributes: localKeys(attributes), children: [] }
        open.at(-1)!.children.push(element)
        open.push(element)
      },
      ontext: (text) => void open.at(-1)!.children.push(text),
      onclosetag() {
        const { name } = open.pop()!
        // Office files say some things twice: this is for programs that do not understand the `Choice` beside it.
        if (name === "Fallback") open.at(-1)!.children.pop()
      },
    },
    { xmlMode: true },
  )
  parser.write(xml)
  if (open.length > 1) throw new Error("The document ends too early.")
  parser.end()
  return childrenOf(top)[0]
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

/** The text that stands directly in an element. */
export const ownText = (element: Element | undefined): string =>
  (element?.children ?? []).filter((child) => typeof child === "string").join("")
