import { guardrailLimits } from "./limits.js"

/** Characters that may stand between the digits of a number. */
export const separator = /[\s._\-/|*()]/

/** A run of digits with separators: the digits, with the index of each in the text and whether it begins or ends a group. */
export interface DigitRun {
  digits: string
  at: number[]
  begins: boolean[]
  ends: boolean[]
}

const { separators } = guardrailLimits

const isDigit = (text: string, index: number) => text[index]! >= "0" && text[index]! <= "9"

/** The runs of digits of a folded text that have at least so many digits. */
export function* digitRuns(text: string, fewest: number): Generator<DigitRun> {
  for (let index = 0; index < text.length; ) {
    if (!isDigit(text, index)) {
      index += 1
      continue
    }
    const run: DigitRun = { digits: "", at: [], begins: [], ends: [] }
    for (let last = index - 1; index < text.length && isDigit(text, index); index = nextDigit(text, index)) {
      const begins = run.at.length === 0 || index !== last + 1
      if (begins && run.at.length > 0) run.ends[run.at.length - 1] = true
      run.digits += text[index]
      run.at.push(index)
      run.begins.push(begins)
      run.ends.push(false)
      last = index
    }
    run.ends[run.at.length - 1] = true
    if (run.at.length >= fewest) yield run
  }
}

/** Index of the next digit of the run, or of the character behind the run. */
function nextDigit(text: string, index: number): number {
  let next = index + 1
  while (next < text.length && next - index <= separators && separator.test(text[next]!)) next += 1
  return next < text.length && isDigit(text, next) ? next : index + 1
}

/** A day as people write it: such numbers are no part of others. */
const day =
  /(?<!\d)(?:(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:19|20)\d\d|(?:19|20)\d\d([./-])(?:0?[1-9]|1[0-2])\2(?:0?[1-9]|[12]\d|3[01]))(?!\d)/

/** Whether a part of a text contains a date. */
export const hasDay = (text: string) => day.test(text)
