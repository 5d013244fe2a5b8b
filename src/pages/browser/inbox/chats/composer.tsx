import { type DragEvent, type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react"
import { useAction } from "../kit/help.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { type Chat, createMessage, type Message } from "../kit/operations.js"
import { previewOf } from "../kit/texts.js"
import { upload } from "../kit/upload.js"
import { t } from "../kit/words.js"
import { type Draft, draftOf, forgetDraft, keepDraft } from "./drafts.js"

/** The field for a reply, with its files and its quote. */
export function Composer({ chat, quoted, unquote }: { chat: Chat; quoted: Message | null; unquote(): void }) {
  const [draft, setDraft] = useState(() => draftOf(chat.id))
  const [isSending, setSending] = useState(false)
  const mutate = useMutate()
  const notice = useNotice()
  const field = useRef<HTMLTextAreaElement>(null)
  useAction("reply", () => field.current?.focus())
  useEffect(() => {
    if (quoted) field.current?.focus()
  }, [quoted])
  useEffect(() => keepDraft(chat.id, draft), [chat.id, draft])
  /** What is sent changes, so it is another message. */
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes, key: crypto.randomUUID() }))

  const add = (added: FileList | null) => {
    const files = [...(added ?? [])].map((file) => ({ file, key: crypto.randomUUID() }))
    if (files.length > 0) setDraft((before) => ({ ...before, files: [...before.files, ...files], key: crypto.randomUUID() }))
  }
  const dropped = useDropped(add)

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
        setDraft(forgetDraft(chat.id))
        unquote()
      }
    } catch (error) {
      notice(error instanceof TypeError ? t("The server does not answer. Try again.") : (error as Error).message)
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
    <form className="composer" onSubmit={send} aria-busy={isSending} {...dropped}>
      {quoted && (
        <p className="quoted">
          {t("Quote")}: <bdi>{previewOf(quoted)}</bdi>{" "}
          <button type="button" onClick={unquote}>
            {t("Remove the quote")}
          </button>
        </p>
      )}
      {draft.files.length > 0 && (
        <ul className="files" aria-label={t("Files to send")}>
          {draft.files.map(({ file, key }) => (
            <li key={key}>
              <bdi>{file.name}</bdi>{" "}
              <button
                type="button"
                aria-label={t("Remove {name}", { name: file.name })}
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
        aria-label={t("Message")}
        rows={3}
        dir="auto"
        value={draft.text}
        readOnly={isSending}
        placeholder={
          chat.isUnderAiControl
            ? t("The assistant answers here, also after a message of yours. Take over to answer alone.")
            : t("Write a message")
        }
        onChange={({ target }) => change({ text: target.value })}
        onKeyDown={pressed}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return
          event.preventDefault()
          add(event.clipboardData.files)
        }}
      />
      <div className="line">
        <label className="attach">
          {t("Attach files")}
          <input
            type="file"
            className="unseen"
            multiple
            disabled={isSending}
            aria-label={t("Attach files")}
            onChange={({ target }) => {
              add(target.files)
              target.value = ""
            }}
          />
        </label>
        <span role="status">{isSending ? t("Sending …") : ""}</span>
        <button type="submit" className="primary" aria-disabled={isSending}>
          {t("Send")}
        </button>
      </div>
    </form>
  )
}

/** Takes files that are dropped on an element, which says that it would while they are above it. */
function useDropped(add: (files: FileList) => void) {
  const [isOver, setOver] = useState(false)
  return {
    "data-drop": isOver || undefined,
    onDragOver(event: DragEvent) {
      if (!event.dataTransfer.types.includes("Files")) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(false)
      add(event.dataTransfer.files)
    },
  }
}
