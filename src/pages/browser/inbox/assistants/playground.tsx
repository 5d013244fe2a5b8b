import { type FormEvent, useState } from "react"
import { Log } from "../chats/log.js"
import { textsOf } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { createMessage } from "../kit/operations.js"
import { type Assistant, createPlayground } from "./operations.js"

/** A test chat with an assistant: what is written is a customer's message. */
export function Playground({ assistant: { id, companyId } }: { assistant: Assistant }) {
  const mutate = useMutate()
  const [chatId, setChatId] = useState("")
  async function send(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const { text } = textsOf(event)
    const customer = `playground-${crypto.randomUUID()}`
    const input = { companyId, assistantId: id, messenger: "PLAYGROUND" as const, fromId: "playground", externalId: customer, name: "Test" }
    const chat = chatId || (await mutate(createPlayground, { input }))?.createChat.id
    if (!chat) return
    setChatId(chat)
    if (await mutate(createMessage, { input: { companyId, chatId: chat, role: "CUSTOMER", text: text! } })) form.reset()
  }
  return (
    <aside aria-label="Playground" className="playground">
      <div className="line">
        <h2>Playground</h2>
        <button type="button" onClick={() => setChatId("")}>
          New test chat
        </button>
      </div>
      {chatId ? <Log key={chatId} chatId={chatId} /> : <p className="nothing">Write as a customer would.</p>}
      <form className="line" onSubmit={send}>
        <input name="text" aria-label="Message of a customer" dir="auto" autoComplete="off" required />
        <button type="submit" className="primary">
          Ask
        </button>
      </form>
    </aside>
  )
}
