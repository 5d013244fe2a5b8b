import type { Folded } from "./folded.js"

/** What a rule found in a text: indices of the folded text, and why, as a short word. */
export interface Match {
  start: number
  end: number
  reason: string
}

/** Finds what a rule is about in a folded text, in a time that grows linearly with it. */
export interface Finder {
  /** The form of the text that it reads: `folded` unless it says otherwise. */
  form?: "folded" | "clean"
  find(folded: Folded): Match[]
}

/** A finder whose matches can be replaced, also in a text that is still being written. */
export interface MaskFinder extends Finder {
  /** Index of the folded text from which on further text may change what is found; what begins before it is final. */
  undecidedFrom(text: string): number
}

/** What stands in place of what was found; no letters, since it is shown in any language. */
export const mask = "••••"

/** Index where the run of characters of a set that ends the text begins, at most so many characters before its end. */
export function runAtEnd(text: string, isPart: (character: string) => boolean, most: number): number {
  let index = text.length
  while (index > 0 && text.length - index < most && isPart(text[index - 1]!)) index -= 1
  return index
}
