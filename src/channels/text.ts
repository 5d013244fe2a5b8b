import { storableText } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"

/** A text of a channel as a message's: without what PostgreSQL refuses, and at most as long as a message. */
export function messageText(text: string): string {
  return beginOf(storableText(text), entityLimits.messageText)
}

/** A short text, such as a name; null when nothing is left of it. */
export function storableName(text: string | null | undefined): string | null {
  const clean = text ? storableText(text).trim() : ""
  return clean === "" ? null : beginOf(clean, entityLimits.chatText)
}

/** The first code points of a text, which have at most two units each. */
const beginOf = (text: string, most: number) => (text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join(""))
