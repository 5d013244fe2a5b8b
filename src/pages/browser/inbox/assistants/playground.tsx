import { type FormEvent, useRef, useState } from "react"
import { Log } from "../chats/log.js"
import { textsOf } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { createMessage } from "../kit/operations.js"
import { t } from "../kit/words.js"
import { type Assistant, assignForTrial, createPlayground } from "./operations.js"
import type { Trial } from "./trial.js"

/** A test chat with an assistant, as its prompt is typed, saved or not: what is written is a customer's message. */
export function Playground({ assistant: { companyId }, trial }: { assistant: Assistant; trial: Trial }) {
  const mutate = useMutate()
  const [chat, setChat] = useState({ id: "", assistantId: "" })
  // A second press must not ask the same again, in another chat.
  const isSending = useRef(false)
  async function submit(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const { text } = textsOf(event)
    if (isSending.current) return
    isSending.current = true
    try {
      if (await send(text!)) form.reset()
    } finally {
      isSending.current = false
    }
  }
  async function send(text: string) {
    const assistantId = await trial.assistantId()
    if (!assistantId) return null
    const customer = `playground-${crypto.randomUUID()}`
    const input = { companyId, messenger: "PLAYGROUND" as const, fromId: "playground", externalId: customer, name: "Test" }
    const id = chat.id || (await mutate(createPlayground, { input }))?.createChat.id
    if (!id) return null
    if (assistantId !== chat.assistantId && !(await mutate(assignForTrial, { id, assistantId }))) return null
    setChat({ id, assistantId })
    return mutate(createMessage, { input: { companyId, chatId: id, role: "CUSTOMER", text } })
  }
  function begin() {
    setChat({ id: "", assistantId: "" })
    trial.forget()
  }
  return (
    <aside aria-label={t("Playground")} className="playground">
      <div className="line">
        <h2>{t("Playground")}</h2>
        <button type="button" onClick={begin}>
          {t("New test chat")}
        </button>
      </div>
      {chat.id ? (
        <Log key={chat.id} chatId={chat.id} />
      ) : (
        <p className="nothing">
          {t(
            "Write as a customer would. The assistant answers by the prompt as it is typed, saved or not; knowledge and tools count once they are saved.",
          )}
        </p>
      )}
      <form className="line" onSubmit={submit}>
        <input name="text" aria-label={t("Message of a customer")} dir="auto" autoComplete="off" required />
        <button type="submit" className="primary">
          {t("Ask")}
        </button>
      </form>
    </aside>
  )
}
