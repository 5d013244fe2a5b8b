import { memo, type ReactNode, useRef } from "react"
import { useClient } from "urql"
import { here } from "../kit/here.js"
import { useMutate } from "../kit/notices.js"
import { type Message, messageQuery, retryMessage } from "../kit/operations.js"
import { authorOf, exactTime, previewOf, shortTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { Markdown } from "./markdown.js"

/** A message of the log. */
export const MessageArticle = memo(function MessageArticle({
  message,
  quote,
  isChosen,
}: {
  message: Message
  quote: ((message: Message) => void) | undefined
  /** Whether the log was opened at this message. */
  isChosen: boolean
}) {
  const { role, text, createdAt, replyTo, messageMedia, sources, functionCall, functionCallOutput } = message
  const isCustomer = role === "CUSTOMER"
  if (functionCall) return <Folded title={titleOfCall(functionCall)} content={functionCall.arguments} />
  const files = messageMedia.map(({ id, media }) => <File key={id} media={media} messageId={message.id} />)
  if (functionCallOutput)
    return (
      <Folded title={t("Output of a tool: {status}", { status: functionCallOutput.status })} content={functionCallOutput.output}>
        {files}
      </Folded>
    )
  return (
    <article
      id={message.id}
      className={`bubble ${isCustomer ? "theirs" : role === "SYSTEM" ? "system" : "ours"}`}
      aria-current={isChosen || undefined}
    >
      <p className="byline">
        <bdi>{authorOf(message)}</bdi>{" "}
        <time dateTime={createdAt} title={exactTime(createdAt)}>
          {shortTime(createdAt)}
        </time>
      </p>
      {replyTo && (
        <blockquote>
          <bdi>{previewOf({ text: replyTo.text, type: "Message" })}</bdi>
        </blockquote>
      )}
      {text &&
        (isCustomer ? (
          <p className="text" dir="auto">
            {text}
          </p>
        ) : (
          <Markdown text={text} />
        ))}
      {files}
      {sources.length > 0 && (
        <details>
          <summary>{t("Sources: {count}", { count: new Set(sources.map(({ knowledgeId }) => knowledgeId)).size })}</summary>
          <ul>
            {[...new Map(sources.map(({ knowledgeId, knowledgeName }) => [knowledgeId, knowledgeName]))].map(([id, name]) => (
              <li key={id}>
                <bdi>{name}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
      <p className="below">
        {!isCustomer && role !== "SYSTEM" && <Delivery message={message} />}
        {quote && (
          <button
            type="button"
            className="plain"
            onClick={() => quote(message)}
            aria-label={`${t("Quote")}: ${previewOf(message).slice(0, 60)}`}
          >
            {t("Quote")}
          </button>
        )}
      </p>
    </article>
  )
})

/** What the assistant did, in one line. */
function titleOfCall({ name, arguments: given }: NonNullable<Message["functionCall"]>): string {
  const reason = name === "turnOffAiMode" && (given as { reason?: unknown } | null)?.reason
  return typeof reason === "string" && reason ? t("Handed to a person: {reason}", { reason }) : t("Tool call: {name}", { name })
}

/** A tool call or its output, folded; files of the output are shown below. */
function Folded({ title, content, children }: { title: string; content: unknown; children?: ReactNode }) {
  return (
    <article className="bubble tool">
      <details>
        <summary>
          <bdi>{title}</bdi>
        </summary>
        <pre dir="ltr">{typeof content === "string" ? content : JSON.stringify(content, null, 2)}</pre>
      </details>
      {children}
    </article>
  )
}

/** How far a message has come, with the button that sends a failed one again. */
function Delivery({ message: { id, status, deliveryError } }: { message: Message }) {
  const mutate = useMutate()
  if (status === "STORED") return null
  return (
    <span className={status === "FAILED" ? "refused" : undefined}>
      {wordOf(status)}
      {deliveryError && `: ${deliveryError}`}
      {status === "FAILED" && (
        <>
          {" "}
          <button type="button" onClick={() => void mutate(retryMessage, { id })}>
            {t("Send again")}
          </button>
        </>
      )}
    </span>
  )
}

type Media = Message["messageMedia"][number]["media"]

/** A file: images, sound and films in place, others as a link. An address that has expired is read again once. */
function File({ media: { filename, mimeType, url }, messageId }: { media: Media; messageId: string }) {
  const client = useClient()
  const expired = useRef<string | null>(null)
  const address = url && here(url)
  if (!address) return <p className="file">{t("{name} (cannot be read)", { name: filename ?? t("File") })}</p>
  function renew() {
    if (expired.current === url) return
    expired.current = url
    void client.query(messageQuery, { id: messageId }, { requestPolicy: "network-only" }).toPromise()
  }
  const name = filename || t("File")
  return (
    <p className="file">
      {/* The link below it has its name. */}
      {/^image\/(?!svg)/.test(mimeType) && <img src={address} alt={t("Photo")} loading="lazy" onError={renew} />}
      {/* biome-ignore-start lint/a11y/useMediaCaption: customers send no captions. */}
      {mimeType.startsWith("audio/") && <audio controls src={address} aria-label={name} preload="none" onError={renew} />}
      {mimeType.startsWith("video/") && <video controls src={address} aria-label={name} preload="none" onError={renew} />}
      {/* biome-ignore-end lint/a11y/useMediaCaption: customers send no captions. */}
      <a href={address} target="_blank" rel="noopener noreferrer">
        <bdi>{name}</bdi>
      </a>
    </p>
  )
}
