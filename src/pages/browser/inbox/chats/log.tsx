import type { ResultOf } from "gql.tada"
import { useEffect, useMemo, useRef, useState } from "react"
import { inboxLimits } from "../kit/limits.js"
import { useConnected, useFollowed, usePages } from "../kit/live.js"
import { Failure } from "../kit/notices.js"
import { type Message, messagesQuery, progressSubscription } from "../kit/operations.js"
import { t } from "../kit/words.js"
import { Markdown } from "./markdown.js"
import { Stretch, stretchesOf } from "./stretch.js"

interface Props {
  chatId: string
  quote?: (message: Message) => void
  /** The message at which the log is opened, in place of its end. */
  messageId?: string | undefined
}

/** The messages of a chat, the newest at the end, with the answer that the assistant is writing; earlier ones are read while it is scrolled. */
export function Log({ chatId, quote, messageId }: Props) {
  const source = useMemo(() => {
    const variables = { chatId, first: inboxLimits.pageSize }
    return { document: messagesQuery, variables, connection: ({ messages }: ResultOf<typeof messagesQuery>) => messages }
  }, [chatId])
  const { nodes, isLoading, hasMore, error, more } = usePages(source)
  const box = useRef<HTMLElement>(null)
  const stretches = useMemo(() => stretchesOf(nodes), [nodes])
  const answer = useAnswer(chatId, nodes[0])
  const isFound = nodes.some(({ id }) => id === messageId)
  useEffect(() => {
    if (isFound) document.getElementById(messageId!)?.scrollIntoView({ block: "center" })
  }, [isFound, messageId])
  useEffect(() => {
    if (messageId && !isFound && hasMore && !isLoading && !error) more()
  }, [messageId, isFound, hasMore, isLoading, error, more])
  function readAhead() {
    const { scrollTop, scrollHeight, clientHeight } = box.current!
    // The box is laid out from its end, so its scroll position is 0 at the newest message and negative above it.
    if (hasMore && !isLoading && !error && scrollHeight - clientHeight + scrollTop < inboxLimits.ahead) more()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <section className="scroll log" ref={box} onScroll={readAhead} tabIndex={0} aria-label={t("History")}>
      <div role="log" aria-label={t("Messages")} aria-busy={isLoading}>
        {hasMore && (
          <button type="button" className="earlier" onClick={more}>
            {t("Earlier messages")}
          </button>
        )}
        <Failure error={error} again={more} />
        {stretches.map(({ key, messages }) => (
          <Stretch
            key={key}
            messages={messages}
            quote={quote}
            chosen={messages.some(({ id }) => id === messageId) ? messageId : undefined}
          />
        ))}
        {answer && (
          <article className="bubble theirs writing" aria-busy="true">
            <p className="byline">{t("Assistant, writing")}</p>
            <Markdown text={answer} />
          </article>
        )}
      </div>
    </section>
  )
}

/** The text of the answer that the assistant is writing; empty while it writes none. */
function useAnswer(chatId: string, newest: Message | undefined): string {
  const isConnected = useConnected()
  const [answer, setAnswer] = useState({ turnId: "", text: "" })
  const ended = useRef("")
  const newestId = newest?.role === "ASSISTANT" ? newest.id : ""
  useFollowed(progressSubscription, { chatId }, ({ answerProgress: { done, turnId, text } }) => {
    if (turnId !== ended.current) setAnswer({ turnId, text: done ? "" : text })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stored message replaces the text that was being written.
  useEffect(() => {
    setAnswer(({ turnId }) => {
      ended.current = turnId
      return { turnId, text: "" }
    })
  }, [newestId])
  return isConnected ? answer.text : ""
}
