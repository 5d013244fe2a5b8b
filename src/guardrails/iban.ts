import { getCountrySpecifications, isValidIBAN } from "ibantools"
import type { Folded } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import { separator } from "./numbers.js"
import type { MaskFinder, Match } from "./rule.js"

const { separators, ibanCharacters } = guardrailLimits

/** Lengths of IBANs by their country, in lower case. */
const lengths = new Map(
  Object.entries(getCountrySpecifications()).flatMap(([country, { chars }]) => (chars ? [[country.toLowerCase(), chars] as const] : [])),
)

const isPart = (character: string | undefined) => character !== undefined && /[a-z0-9]/.test(character)

/** Where an IBAN may begin: two letters that no letter or digit precedes, and a digit, or the end of the text before it. */
const beginning = /(?<![a-z0-9])[a-z](?:$|[a-z](?=[\s._\-/|*()]{0,3}(?:\d|$)))/

/** Where IBANs may begin, from an index on. */
function* beginnings(text: string, from = 0): Generator<number> {
  const search = new RegExp(beginning, "g")
  search.lastIndex = from
  for (let match = search.exec(text); match; match = search.exec(text)) yield match.index
}

/** What begins at a place: the index behind it; "open" when the text ends before that is known, null when it is no IBAN. */
function ibanAt(text: string, start: number): number | "open" | null {
  if (start + 2 > text.length) return "open"
  const length = lengths.get(text.slice(start, start + 2))
  if (!length) return null
  let [written, index] = ["", start]
  for (let skipped = 0; index < text.length && written.length < length && skipped <= separators; index += 1) {
    const character = text[index]!
    if (isPart(character)) {
      written += character
      skipped = 0
    } else if (separator.test(character)) skipped += 1
    else return null
  }
  if (index === text.length) return written.length === length && isValid(written) ? index : "open"
  return written.length === length && !isPart(text[index]) && isValid(written) ? index : null
}

const isValid = (written: string) => isValidIBAN(written.toUpperCase())

/** Finds IBANs with the length and the check number of their country. */
export const ibans: MaskFinder = {
  find({ text }: Folded) {
    const found: Match[] = []
    for (const start of beginnings(text)) {
      const end = ibanAt(text, start)
      if (typeof end === "number") found.push({ start, end, reason: "iban" })
    }
    return found
  },
  undecidedFrom(text) {
    for (const start of beginnings(text, Math.max(0, text.length - ibanCharacters * (separators + 1)))) {
      const end = ibanAt(text, start)
      // One that is complete may still go on.
      if (end === "open" || end === text.length) return start
    }
    return text.length
  },
}
