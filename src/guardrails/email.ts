import type { Folded } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import type { MaskFinder, Match } from "./rule.js"

const { emailLocal, emailDomain } = guardrailLimits

const label = String.raw`[\p{L}\p{N}\p{M}-]`
const dot = String.raw`(?:\.|[([{] ?dot ?[)\]}])`

/** An @, also in the form that hides it from programs. */
const at = /@|[([{] ?at ?[)\]}]/g
const local = new RegExp(String.raw`[^\s@<>()[\]{},;:"'|]{1,${emailLocal}} ?$`, "u")
const domain = new RegExp(`^ ?${label}{1,63}(?: ?${dot} ?${label}{1,63}){1,8}`, "u")
const topLevel = /[\p{L}\p{M}]{2,63}$|xn--[a-z0-9-]+$/u

/** The part behind an @ while further text may still belong to it. */
const openDomain = new RegExp(`^ ?${label}{0,63}(?: ?${dot} ?${label}{0,63}){0,8} ?(?:[([{] ?(?:d(?:o(?:t ?)?)?)?)?$`, "u")
/** A hidden @ of which the end is missing. */
const openAt = /[([{] ?(?:a(?:t ?)?)?$/

/** Longest address in the text, with the hidden forms of @ and dots. */
const longest = emailLocal + emailDomain + 16

/** Finds e-mail addresses. */
export const emails: MaskFinder = {
  find({ text }: Folded) {
    const found: Match[] = []
    for (const { 0: sign, index } of text.matchAll(at)) {
      const isHidden = sign !== "@"
      const [before] = local.exec(text.slice(Math.max(0, index - emailLocal - 1), index)) ?? []
      const [after] = domain.exec(text.slice(index + sign.length, index + sign.length + emailDomain)) ?? []
      if (!before || !after || !topLevel.test(after)) continue
      // "me @ example.com" is a place rather than an address.
      if (!isHidden && (before.endsWith(" ") || after.startsWith(" "))) continue
      found.push({ start: index - before.length, end: index + sign.length + after.length, reason: "email" })
    }
    return found
  },
  undecidedFrom(text) {
    const from = Math.max(0, text.length - longest)
    const tail = text.slice(from)
    const sign = [...tail.matchAll(at)].find(({ 0: each, index }) => openDomain.test(tail.slice(index + each.length)))
    // The last word, or the one before it, may become the part before an @.
    return from + beginOf(tail, sign?.index ?? openAt.exec(tail)?.index ?? tail.length)
  },
}

/** Where the word begins that ends at an index, or before a space there. */
function beginOf(text: string, end: number): number {
  const word = /\s$/.test(text.slice(0, end)) ? end - 1 : end
  return Math.max(text.lastIndexOf(" ", word - 1), text.lastIndexOf("\n", word - 1)) + 1
}
