/** Creates an element with attributes and children; text is always text, never HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

const svg = "http://www.w3.org/2000/svg"

/** Creates an icon from an SVG path; it is hidden from screen readers. */
export function icon(path: string): SVGElement {
  const made = document.createElementNS(svg, "svg")
  const attributes = { viewBox: "0 0 24 24", width: "24", height: "24", fill: "currentColor", "aria-hidden": "true" }
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  const line = document.createElementNS(svg, "path")
  line.setAttribute("d", path)
  made.append(line)
  return made
}
