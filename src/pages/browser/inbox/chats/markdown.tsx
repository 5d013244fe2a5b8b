import { useLayoutEffect, useRef } from "react"
import { markdown } from "../../widget/markdown.js"

/** Text with the widget's safe subset of Markdown: an agent sees an answer as the customer does. */
export function Markdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => box.current!.replaceChildren(markdown(text)), [text])
  return <div className="text" dir="auto" ref={box} />
}
