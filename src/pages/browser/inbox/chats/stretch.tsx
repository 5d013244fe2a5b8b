import { memo, useEffect, useRef, useState } from "react"
import { inboxLimits } from "../kit/limits.js"
import type { Message } from "../kit/operations.js"
import { MessageArticle } from "./message.js"

interface Props {
  /** Oldest first. */
  messages: readonly Message[]
  quote: ((message: Message) => void) | undefined
  /** The ID of a message among them at which the log was opened: then they stay in the page. */
  chosen?: string | undefined
}

/** Messages in a row. Far from what is in sight they are a space of their height, so that a long chat does not fill the memory. */
export const Stretch = memo(function Stretch({ messages, quote, chosen }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [height, setHeight] = useState<number | null>(null)
  useEffect(() => {
    const options = { root: box.current!.closest(".log"), rootMargin: `${inboxLimits.keptPixels}px 0px` }
    const observer = new IntersectionObserver((entries) => {
      const { isIntersecting, boundingClientRect } = entries.at(-1)!
      // One without a height is hidden with the whole log.
      setHeight(isIntersecting || boundingClientRect.height === 0 ? null : boundingClientRect.height)
    }, options)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  const isShown = height === null || chosen !== undefined
  return (
    <div className="stretch" ref={box} style={isShown ? undefined : { height: height! }}>
      {isShown &&
        messages.map((message) => <MessageArticle key={message.id} message={message} quote={quote} isChosen={message.id === chosen} />)}
    </div>
  )
}, isSame)

function isSame(before: Props, after: Props): boolean {
  const { messages } = before
  return (
    before.quote === after.quote &&
    before.chosen === after.chosen &&
    messages.length === after.messages.length &&
    messages.every((message, index) => message === after.messages[index])
  )
}

/** Divides messages, newest first, into stretches, oldest first; a message stays in its stretch when others are added. */
export function stretchesOf(messages: readonly Message[]): { key: number; messages: Message[] }[] {
  const stretches: { key: number; messages: Message[] }[] = []
  for (const message of messages.toReversed()) {
    // One that has no place yet is after all others.
    const key = Math.floor((message.sequence ?? Number.MAX_SAFE_INTEGER) / inboxLimits.stretch)
    const last = stretches.at(-1)
    if (last?.key === key) last.messages.push(message)
    else stretches.push({ key, messages: [message] })
  }
  return stretches
}
