import { codePoints } from "../entities/kit/scalars.js"
import { storableText } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"

/** A text of a channel as a message's: without what PostgreSQL refuses, and at most as long as a message. */
export function messageText(text: string): string {
  const clean = storableText(text)
  if (codePoints(clean) <= entityLimits.messageText) return clean
  // A code point has at most two units.
  return [...clean.slice(0, 2 * entityLimits.messageText)].slice(0, entityLimits.messageText).join("")
}

/** A short text, such as a name; null when nothing is left of it. */
export function storableName(text: string | null | undefined): string | null {
  const clean = text ? storableText(text).trim() : ""
  return clean === "" ? null : [...clean.slice(0, 2 * entityLimits.chatText)].slice(0, entityLimits.chatText).join("")
}
