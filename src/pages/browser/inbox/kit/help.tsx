import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"

/** A key, and what it does: the view that has the action listens for the event of its name. */
const shortcuts = [
  ["/", "search", "Search chats"],
  ["j", "next", "Next chat"],
  ["k", "previous", "Previous chat"],
  ["r", "reply", "Write a message"],
  ["t", "control", "Take over, or give back"],
  ["u", "unread", "Mark the chat as unread"],
  ["?", "help", "This help"],
] as const

/** What a shortcut asks for. */
export type Action = (typeof shortcuts)[number][1]

const setting = "inbox-shortcuts"
const eventName = (action: Action) => `inbox:${action}`

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
      const found = shortcuts.find(([key]) => key === event.key)
      // The help can always be opened, since it is where the keys are turned on.
      if (!found || (!isOn && found[1] !== "help") || event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return
      if (dialog.current?.open) return
      event.preventDefault()
      dispatchEvent(new Event(eventName(found[1])))
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [isOn])
  function change(on: boolean) {
    localStorage.setItem(setting, on ? "on" : "off")
    setOn(on)
  }
  const help = (
    <dialog ref={dialog} aria-label="Keys">
      <h2>Keys</h2>
      <dl className="keys">
        {shortcuts.map(([key, action, text]) => (
          <div key={action}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>In the field of a message, Enter sends and Shift + Enter begins a new line.</p>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => change(target.checked)} /> Use these keys
      </label>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
  return { help }
}
