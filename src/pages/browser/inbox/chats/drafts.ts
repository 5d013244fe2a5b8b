import { isSignedIn, onSession } from "../kit/session.js"

/** What was written and not yet taken by the server. A repetition has the same key, so that it is not sent twice. */
export interface Draft {
  text: string
  files: { file: File; key: string }[]
  key: string
}

const emptyDraft = (): Draft => ({ text: "", files: [], key: crypto.randomUUID() })
const prefix = "inbox-draft:"

/** Files of the drafts of this page by chat: a reload loses them, since a page cannot read a file again. */
const files = new Map<string, Draft["files"]>()
onSession(() => {
  if (isSignedIn()) return
  files.clear()
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
})

/** The draft of a chat: going to another chat and back loses nothing, a reload loses no text. */
export function draftOf(chatId: string): Draft {
  const stored = sessionStorage.getItem(prefix + chatId)
  return { ...emptyDraft(), ...(stored && JSON.parse(stored)), files: files.get(chatId) ?? [] }
}

/** Keeps a draft; one without text and files is forgotten. */
export function keepDraft(chatId: string, { text, files: chosen, key }: Draft) {
  files.set(chatId, chosen)
  if (text || chosen.length > 0) sessionStorage.setItem(prefix + chatId, JSON.stringify({ text, key }))
  else sessionStorage.removeItem(prefix + chatId)
}

/** Forgets the draft of a chat; returns an empty one. */
export function forgetDraft(chatId: string): Draft {
  const draft = emptyDraft()
  keepDraft(chatId, draft)
  return draft
}
