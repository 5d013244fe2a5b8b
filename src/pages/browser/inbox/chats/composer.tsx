import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react"
import { useAction } from "../kit/help.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { type Chat, createMessage, type Message } from "../kit/operations.js"
import { isSignedIn, onSession } from "../kit/session.js"
import { previewOf } from "../kit/texts.js"
import { upload } from "../kit/upload.js"

/** What was written and not yet taken by the server. A repetition has the same key, so that it is not sent twice. */
interface Draft {
  text: string
  files: { file: File; key: string }[]
  key: string
}

const emptyDraft = (): Draft => ({ text: "", files: [], key: crypto.randomUUID() })

/** Drafts of this page by chat: going to another chat and back loses nothing. */
const drafts = new Map<string, Draft>()
onSession(() => {
  if (!isSignedIn()) drafts.clear()
})

/** The field for a reply, with its files and its quote. */
export function Composer({ chat, quoted, unquote }: { chat: Chat; quoted: Message | null; unquote(): void }) {
  const [draft, setDraft] = useState(() => drafts.get(chat.id) ?? emptyDraft())
  const [isSending, setSending] = useState(false)
  const mutate = useMutate()
  const notice = useNotice()
  const field = useRef<HTMLTextAreaElement>(null)
  useAction("reply", () => field.current?.focus())
  useEffect(() => {
    if (quoted) field.current?.focus()
  }, [quoted])
  useEffect(() => void drafts.set(chat.id, draft), [chat.id, draft])
  /** What is sent changes, so it is another message. */
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes, key: crypto.randomUUID() }))

  async function send(event?: FormEvent) {
    event?.preventDefault()
    const text = draft.text.trim()
    if (isSending || (!text && draft.files.length === 0)) return
    setSending(true)
    try {
      const mediaIds = await Promise.all(draft.files.map(({ file, key }) => upload(chat.companyId, file, key)))
      const input = {
        companyId: chat.companyId,
        chatId: chat.id,
        idempotencyKey: `${draft.key}${quoted?.id ?? ""}`,
        ...(text && { text }),
        ...(mediaIds.length > 0 && { mediaIds }),
        ...(quoted && { replyToMessageId: quoted.id }),
      }
      if (await mutate(createMessage, { input })) {
        // Also when another chat is open by now.
        drafts.delete(chat.id)
        setDraft(emptyDraft())
        unquote()
      }
    } catch (error) {
      notice(error instanceof TypeError ? "The server does not answer. Try again." : (error as Error).message)
    } finally {
      setSending(false)
    }
  }
  function pressed(event: KeyboardEvent) {
    // While an input method composes a character, Enter accepts it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <form className="composer" onSubmit={send} aria-busy={isSending}>
      {quoted && (
        <p className="quoted">
          Quote: <bdi>{previewOf(quoted)}</bdi>{" "}
          <button type="button" onClick={unquote}>
            Remove the quote
          </button>
        </p>
      )}
      {draft.files.length > 0 && (
        <ul className="files" aria-label="Files to send">
          {draft.files.map(({ file, key }) => (
            <li key={key}>
              <bdi>{file.name}</bdi>{" "}
              <button
                type="button"
                aria-label={`Remove ${file.name}`}
                onClick={() => change({ files: draft.files.filter((each) => each.key !== key) })}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        aria-label="Message"
        rows={3}
        dir="auto"
        value={draft.text}
        readOnly={isSending}
        placeholder={chat.isUnderAiControl ? "The assistant answers here. Take over to answer yourself." : "Write a message"}
        onChange={({ target }) => change({ text: target.value })}
        onKeyDown={pressed}
      />
      <div className="line">
        <label className="attach">
          <input
            type="file"
            multiple
            disabled={isSending}
            aria-label="Attach files"
            onChange={({ target }) => {
              const added = [...(target.files ?? [])].map((file) => ({ file, key: crypto.randomUUID() }))
              change({ files: [...draft.files, ...added] })
              target.value = ""
            }}
          />
        </label>
        <span role="status">{isSending ? "Sending …" : ""}</span>
        <button type="submit" className="primary" aria-disabled={isSending}>
          Send
        </button>
      </div>
    </form>
  )
}
