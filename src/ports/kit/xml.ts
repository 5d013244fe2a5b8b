import { Parser } from "htmlparser2"

/** An element of an XML document. Names have no prefix, except for `r:`, which marks references in office files. */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: (Element | string)[]
}

/** Parses a document and returns its root element. `onElement` is called with the depth of each element, and may throw. */
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
        // Office files contain a fallback for programs that do not support the `Choice` beside it.
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

/** Child elements, of one name if it is given. */
export const childrenOf = (element: Element | undefined, name?: string): Element[] =>
  (element?.children ?? []).filter((child): child is Element => typeof child !== "string" && (name === undefined || child.name === name))

/** The descendant at a path of names. */
export const childOf = (element: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((parent, name) => childrenOf(parent, name)[0], element)

/** Descendants with a name, without those inside one another. */
export const below = (element: Element | undefined, name: string): Element[] =>
  childrenOf(element).flatMap((child) => (child.name === name ? [child] : below(child, name)))

/** The text directly in an element. */
export const ownText = (element: Element | undefined): string =>
  (element?.children ?? []).filter((child) => typeof child === "string").join("")
