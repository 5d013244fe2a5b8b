import { keep, kept } from "../kit/kept.js"
import { isSignedIn, onSession } from "../kit/session.js"

/** What was written and not yet taken by the server. A repetition has the same key, so that it is not sent twice. */
export interface Draft {
  text: string
  files: { file: File; key: string }[]
  key: string
}

const emptyDraft = (): Draft => ({ text: "", files: [], key: crypto.randomUUID() })

/** Files of the drafts of this page by chat: a reload loses them, since a page cannot read a file again. */
const files = new Map<string, Draft["files"]>()
onSession(() => {
  if (!isSignedIn()) files.clear()
})

/** The draft of a chat: going to another chat and back loses nothing, a reload loses no text. */
export function draftOf(chatId: string): Draft {
  return { ...emptyDraft(), ...kept<Draft>(chatId), files: files.get(chatId) ?? [] }
}

/** Keeps a draft; one without text and files is forgotten. */
export function keepDraft(chatId: string, { text, files: chosen, key }: Draft) {
  files.set(chatId, chosen)
  keep(chatId, text || chosen.length > 0 ? { text, key } : null)
}

/** Forgets the draft of a chat; returns an empty one. */
export function forgetDraft(chatId: string): Draft {
  const draft = emptyDraft()
  keepDraft(chatId, draft)
  return draft
}
