import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import { useQuery } from "urql"
import { useAddress, useChoices, usePlace } from "../kit/company.js"
import { type Action, ask, shortcuts } from "../kit/help.js"
import { inboxLimits } from "../kit/limits.js"
import { paletteQuery } from "../kit/operations.js"
import { signOut } from "../kit/session.js"
import { titleOf, wordOf } from "../kit/texts.js"
import { chooseLanguage, type Language, languages, type Text, t } from "../kit/words.js"

interface Entry {
  id: string
  kind: Text
  text: string
  run(): void
}

/** Actions of an open chat. */
const ofChat: Action[] = ["control", "reply", "unread"]

const views = [
  ["/chats", "Chats"],
  ["/outcomes", "Outcomes"],
  ["/assistants", "Assistants"],
  ["/settings/tokens", "Access tokens"],
  ["/settings/webhooks", "Event webhooks"],
  ["/settings/tool-servers", "Tool servers"],
  ["/settings/channels", "Channels"],
  ["/settings/members", "Members"],
  ["/settings/audit", "Audit trail"],
] as const satisfies [string, Text][]

const lists = [
  ["Mine", { manager: "me" }],
  ["Unassigned", { manager: "none" }],
  ["Needs a person", { attention: "true" }],
  ["Unread", { unread: "true" }],
] as const satisfies [Text, Record<string, string>][]

const noFilters = { manager: "", attention: "", unread: "", ai: "", channel: "", folder: "", tag: "", search: "" }

/** What can be done and where one can go, without what the server finds. */
function useEntries(): Entry[] {
  const { go, path } = useAddress()
  const { company } = useChoices()
  const isInChat = /^\/chats\/./.test(path)
  const actions = shortcuts.filter(([, action]) => action !== "palette" && (isInChat || !ofChat.includes(action)))
  const list = (changes: Record<string, string>) => go("/chats", { ...noFilters, ...changes })
  return [
    ...actions.map(([, action, text]): Entry => ({ id: action, kind: "Action", text: t(text), run: () => ask(action) })),
    ...views.map(([to, title]): Entry => ({ id: to, kind: "View", text: t(title), run: () => go(to) })),
    ...lists.map(([title, changes]): Entry => ({ id: title, kind: "List of chats", text: t(title), run: () => list(changes) })),
    ...(company?.members ?? []).map(
      ({ userId, name }): Entry => ({ id: userId, kind: "Chats of a manager", text: name, run: () => list({ manager: userId }) }),
    ),
    ...Object.entries(languages).map(
      ([code, name]): Entry => ({ id: `language-${code}`, kind: "Language", text: name, run: () => chooseLanguage(code as Language) }),
    ),
    { id: "sign-out", kind: "Action", text: t("Sign out"), run: () => void signOut() },
  ]
}

/** The assistants and chats that the server finds by a text. */
function useFound(text: string): Entry[] {
  const { companyId } = usePlace()
  const { go } = useAddress()
  const [searched, setSearched] = useState("")
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), inboxLimits.searchPauseMs)
    return () => clearTimeout(timer)
  }, [text])
  const [{ data }] = useQuery({ query: paletteQuery, variables: { companyId, text: searched }, pause: searched.length < 2 })
  if (!data || searched.length < 2 || searched !== text) return []
  return [
    ...data.chats.nodes.map(
      (chat): Entry => ({
        id: chat.id,
        kind: "Chat",
        text: `${titleOf(chat)}, ${wordOf(chat.messenger)}`,
        run: () => go(`/chats/${chat.id}`),
      }),
    ),
    ...data.assistants.nodes.map(({ id, name }): Entry => ({ id, kind: "Assistant", text: name, run: () => go(`/assistants/${id}`) })),
  ]
}

/** Everything that can be done or opened, by a few letters of its name. */
export default function Palette({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const letters = text.trim().toLowerCase()
  const found = useFound(text.trim())
  const entries = [...useEntries().filter((entry) => entry.text.toLowerCase().includes(letters)), ...found]
  const current = Math.min(chosen, entries.length - 1)
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" })
  }, [id, current])

  function run(entry: Entry | undefined) {
    if (!entry) return
    // Closed first: an action may move the focus.
    dialog.current?.close()
    entry.run()
  }
  function pressed(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by) setChosen((current + by + entries.length) % Math.max(1, entries.length))
    else if (event.key === "Enter") run(entries[current])
    else return
    event.preventDefault()
  }
  return (
    <dialog ref={dialog} className="palette" aria-label={t("Command palette")} onClose={close}>
      <input
        role="combobox"
        aria-label={t("Chat, person, assistant or action")}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={entries.length > 0 ? `${id}-${current}` : undefined}
        placeholder={t("Chat, person, assistant or action")}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setChosen(0)
        }}
        onKeyDown={pressed}
      />
      <div role="listbox" className="found" id={id} aria-label={t("Found")}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus, and its keys.
          <div
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            tabIndex={-1}
            onClick={() => run(entry)}
          >
            <bdi>{entry.text}</bdi> <small>{t(entry.kind)}</small>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className="nothing">{t("Nothing found.")}</p>}
    </dialog>
  )
}
