import { chatStyle } from "./chat-style.js"
import { Conversation } from "./conversation.js"
import { sheet } from "./options.js"
import type { Chat, Host, Message, Options } from "./types.js"
import { View } from "./view.js"

/** Starts the chat in the shadow root of the button; it is hidden until it is shown. */
export function start(options: Options, root: ShadowRoot, host: Host): Chat {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet(chatStyle)]
  let unread = 0
  const heard = (message: Message) => {
    const { id, text, createdAt } = message
    const role = message.role.toLowerCase() as "customer" | "user" | "assistant"
    if (role !== "customer" && !view?.isShown) host.unread(++unread)
    host.heard({ id, role, text: text ?? "", createdAt })
  }
  let view: View | null = null
  const conversation = new Conversation(options, () => view?.render(), heard)
  const shown = new View(options, conversation, () => host.closed())
  view = shown
  root.append(shown.dialog)
  return {
    show() {
      unread = 0
      shown.show()
    },
    hide: () => shown.hide(),
    identify: (name) => conversation.identify(name),
  }
}
