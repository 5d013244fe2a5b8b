import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { type Text, t } from "./words.js"

/** A key, and what it does: the view that has the action listens for the event of its name. */
export const shortcuts = [
  ["/", "search", "Search chats"],
  ["j", "next", "Next chat"],
  ["k", "previous", "Previous chat"],
  ["r", "reply", "Write a message"],
  ["t", "control", "Take over, or give back"],
  ["u", "unread", "Mark the chat as unread"],
  ["Ctrl + K", "palette", "Command palette"],
  ["?", "help", "Show the keys"],
] as const satisfies [key: string, action: string, text: Text][]

/** What a shortcut asks for. */
export type Action = (typeof shortcuts)[number][1]

const setting = "inbox-shortcuts"
const eventName = (action: Action) => `inbox:${action}`

/** Asks the view that has an action for it. */
export const ask = (action: Action) => dispatchEvent(new Event(eventName(action)))

/** Calls `act` when the key of an action is pressed. */
export function useAction(action: Action, act: () => void) {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const listener = () => latest.current()
    addEventListener(eventName(action), listener)
    return () => removeEventListener(eventName(action), listener)
  }, [action])
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))

/** Listens for the keys of all actions, outside of fields. Returns the help sheet, which `?` opens. */
export function useShortcuts(): { help: ReactNode } {
  const [isOn, setOn] = useState(() => localStorage.getItem(setting) !== "off")
  const dialog = useRef<HTMLDialogElement>(null)
  useAction(
    "help",
    useCallback(() => dialog.current?.showModal(), []),
  )
  useEffect(() => {
    function pressed(event: KeyboardEvent) {
      // In fields too, and where single keys are turned off.
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        if (!document.querySelector("dialog[open]")) ask("palette")
        return
      }
      const found = shortcuts.find(([key]) => key === event.key)
      // The help can always be opened, since it is where the keys are turned on.
      if (!found || (!isOn && found[1] !== "help") || event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return
      if (document.querySelector("dialog[open]")) return
      event.preventDefault()
      ask(found[1])
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [isOn])
  function change(on: boolean) {
    localStorage.setItem(setting, on ? "on" : "off")
    setOn(on)
  }
  const help = (
    <dialog ref={dialog} aria-label={t("Keys")}>
      <h2>{t("Keys")}</h2>
      <dl className="keys">
        {shortcuts.map(([key, action, text]) => (
          <div key={action}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <p>{t("In the field of a message, Enter sends and Shift + Enter begins a new line.")}</p>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => change(target.checked)} /> {t("Use these keys")}
      </label>
      <form method="dialog">
        <button type="submit">{t("Close")}</button>
      </form>
    </dialog>
  )
  return { help }
}
