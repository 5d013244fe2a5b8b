import { type CountryCode, isSupportedCountry, Metadata, parsePhoneNumberFromString } from "libphonenumber-js/max"
import type { Folded } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import { type DigitRun, digitRuns, hasDay, separator } from "./numbers.js"
import { type MaskFinder, type Match, runAtEnd } from "./rule.js"

const { phoneDigits, phoneDigitsMin, nationalDigits, phoneAttempts, separators } = guardrailLimits

/** Whether a country (ISO 3166, two letters in upper case) has a plan of numbers. */
export const hasNumbers = (country: string) => isSupportedCountry(country as CountryCode)

/** A country in whose numbers without the country code are looked for. */
interface NationalPlan {
  country: CountryCode
  /** Whether these numbers begin with a 0. */
  hasTrunkZero: boolean
}

function planOf(country: CountryCode): NationalPlan {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  // Its types do not name the prefix.
  const plan = metadata.numberingPlan as unknown as { nationalPrefix(): string | null }
  return { country, hasTrunkZero: plan.nationalPrefix() === "0" }
}

/** Finds telephone numbers that the plan of a country has: with + or 00, and of some countries also without the country code. */
export function phones(countries: readonly string[]): MaskFinder {
  const plans = countries.map((country) => planOf(country as CountryCode))
  return {
    find({ text }: Folded) {
      const search = new PhoneSearch(text, plans)
      return [...digitRuns(text, phoneDigitsMin)].flatMap((run) => search.numbersIn(run))
    },
    undecidedFrom: (text) =>
      runAtEnd(text, (character) => /[\d+]/.test(character) || separator.test(character), (phoneDigits + 3) * (separators + 1)),
  }
}

/** A search in one text. */
class PhoneSearch {
  private attempts = 0

  constructor(
    private readonly text: string,
    private readonly plans: NationalPlan[],
  ) {}

  numbersIn(run: DigitRun): Match[] {
    const found: Match[] = []
    for (let first = 0, free = 0; first <= run.digits.length - phoneDigitsMin; first += 1) {
      if (!run.begins[first]) continue
      const last = this.international(run, first) ?? (this.mayBegin(run, first, free) ? this.national(run, first) : null)
      if (last === null) continue
      const start = run.at[first]!
      found.push({ start: /[+(]/.test(this.text[start - 1] ?? "") ? start - 1 : start, end: run.at[last]! + 1, reason: "phone" })
      first = last
      free = last + 1
    }
    return found
  }

  /** Index of the last digit of the number with a country code that begins at a digit; null when none does. */
  private international({ digits, at, ends }: DigitRun, first: number): number | null {
    const hasPlus = /\+[ (]{0,2}$/.test(this.text.slice(Math.max(0, at[first]! - 3), at[first]!))
    const begin = hasPlus ? first : first + 2
    if ((!hasPlus && !digits.startsWith("00", first)) || digits[begin] === "0") return null
    for (let last = Math.min(digits.length, begin + phoneDigits) - 1; last >= begin + phoneDigitsMin - 1; last -= 1)
      if (ends[last] && this.isValid(`+${digits.slice(begin, last + 1)}`)) return last
    return null
  }

  /** Whether a number without a country code may begin at a digit: not inside a longer number. */
  private mayBegin({ at }: DigitRun, first: number, free: number): boolean {
    const before = this.text[at[first]! - 1] ?? ""
    return !/[\p{L}\p{N}]/u.test(before) && (first === free || at[first]! - at[first - 1]! > 2)
  }

  /** Index of the last digit of the number without a country code that begins at a digit; null when none does. */
  private national({ digits, at, begins, ends }: DigitRun, first: number): number | null {
    if (digits.startsWith("00", first)) return null
    const possible = this.plans.filter(({ hasTrunkZero }) => !hasTrunkZero || digits[first] === "0")
    if (possible.length === 0) return null
    for (let last = Math.min(digits.length, first + nationalDigits) - 1; last >= first + phoneDigitsMin - 1; last -= 1) {
      if (!ends[last]) continue
      const written = this.text.slice(at[first], at[last]! + 1)
      if (hasDay(written) || isVersion(written)) continue
      const hasGroups = begins.slice(first + 1, last + 1).includes(true)
      const isOf = ({ country }: NationalPlan) => this.isValid(digits.slice(first, last + 1), country)
      // Where numbers do not begin with a 0, any number of so many digits might be one: people write those in groups.
      if (possible.some((plan) => (plan.hasTrunkZero || hasGroups) && isOf(plan))) return last
    }
    return null
  }

  /** Whether the plan of a country has a number. In a text that only consists of numbers each may be one, after so many that were checked. */
  private isValid(digits: string, country?: CountryCode): boolean {
    this.attempts += 1
    if (this.attempts > phoneAttempts) return true
    return parsePhoneNumberFromString(digits, country)?.isValid() ?? false
  }
}

/** Whether dots alone separate groups of which the first has at most two digits: versions and addresses of machines. */
const isVersion = (written: string) => /^\d{1,2}(?:\.\d+){2,}$/.test(written)
