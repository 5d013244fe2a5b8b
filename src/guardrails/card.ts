import type { Folded } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import { type DigitRun, digitRuns, hasDay, separator } from "./numbers.js"
import { type MaskFinder, type Match, runAtEnd } from "./rule.js"

const { cardDigits, cardDigitsMin, separators } = guardrailLimits

/** First digits and lengths of the networks: Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir. */
const networks = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|09|6|8|9)\d{11,16}$/,
  /^6(?:011|4[4-9]|5)\d{12,16}$/,
  /^35(?:2[89]|[3-8]\d)\d{12,15}$/,
  /^62\d{14,17}$/,
  /^(?:50|5[6-8]|6)\d{11,17}$/,
  /^220[0-4]\d{12,15}$/,
]

/** Whether the check digit fits (Luhn). */
function fits(digits: string): boolean {
  let sum = 0
  for (let index = digits.length - 1, doubled = false; index >= 0; index -= 1, doubled = !doubled) {
    const digit = digits.charCodeAt(index) - 48
    sum += doubled ? (digit > 4 ? 2 * digit - 9 : 2 * digit) : digit
  }
  return sum % 10 === 0
}

const isCard = (digits: string) => networks.some((network) => network.test(digits)) && fits(digits)

/** Finds card numbers: whole groups of digits that have the first digits of a network and a valid check digit. */
export const cards: MaskFinder = {
  find({ text }: Folded) {
    const found: Match[] = []
    for (const run of digitRuns(text, cardDigitsMin)) found.push(...cardsOf(run, text))
    return found
  },
  undecidedFrom: (text) => runAtEnd(text, (character) => /\d/.test(character) || separator.test(character), cardDigits * (separators + 1)),
}

function cardsOf({ digits, at, begins, ends }: DigitRun, text: string): Match[] {
  const found: Match[] = []
  for (let first = 0; first <= digits.length - cardDigitsMin; first += 1) {
    if (!begins[first]) continue
    for (let length = Math.min(cardDigits, digits.length - first); length >= cardDigitsMin; length -= 1) {
      const last = first + length - 1
      if (!ends[last] || !isCard(digits.slice(first, last + 1))) continue
      const match = { start: at[first]!, end: at[last]! + 1, reason: "card_number" }
      if (hasDay(text.slice(match.start, match.end))) continue
      found.push(match)
      first = last
      break
    }
  }
  return found
}
