import type { ResultOf } from "gql.tada"
import { useCallback, useEffect, useRef } from "react"
import type { eventsSubscription } from "./operations.js"
import { t } from "./words.js"

let view = ""
let waiting = 0

function write() {
  document.title = (waiting > 0 ? `(${waiting}) ` : "") + (view ? `${view} · ${t("Inbox")}` : t("Inbox"))
}

/** Names the page's tab after a view, or a chat in it. */
export function useTitle(name: string) {
  useEffect(() => {
    view = name
    write()
  }, [name])
}

/** Returns what takes the events of a company, and shows in the title in how many chats a person has not read what happened since then. */
export function useNews(companyId: string): (data: ResultOf<typeof eventsSubscription>) => void {
  const chats = useRef(new Set<string>())
  // biome-ignore lint/correctness/useExhaustiveDependencies: another company has chats of its own.
  useEffect(
    () => () => {
      chats.current.clear()
      waiting = 0
      write()
    },
    [companyId],
  )
  return useCallback(({ events: { type, chat, payload } }) => {
    if (chat && chat.unreadCount > 0 && !chat.isUnderAiControl) chats.current.add(chat.id)
    else if (chat) chats.current.delete(chat.id)
    else if (type === "CHAT_DELETED") chats.current.delete((payload as { chatId: string }).chatId)
    waiting = chats.current.size
    write()
  }, [])
}
