import { useEffect } from "react"
import { t } from "./words.js"

/** Names the page's tab after a view, or a chat in it. */
export function useTitle(name: string) {
  useEffect(() => {
    document.title = name ? `${name} · ${t("Inbox")}` : t("Inbox")
  }, [name])
}
