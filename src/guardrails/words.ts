import { RE2JS, RE2JSException, RE2Set } from "re2js"
import { BadUserInput } from "../errors/errors.js"
import { fold } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import type { Finder, Match } from "./rule.js"

const letter = String.raw`[\p{L}\p{N}\p{M}_]`

/** A word as it is looked for; its white space stands for any. */
const escaped = (word: string) =>
  fold(word.trim())
    .text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
    .replace(/\s+/g, String.raw`\s{1,8}`)

/** Finds words and phrases, as whole words whatever their case. */
export function wordFinder(words: readonly string[]): Finder {
  // A named group for each word would cost each search; which word it was matters only when one was found.
  const folded = words.map(escaped)
  const some = new RegExp(`(?<!${letter})(?:${folded.join("|")})(?!${letter})`, "gu")
  const each = folded.map((word) => new RegExp(`^${word}$`, "u"))
  return {
    find: ({ text }) =>
      [...text.matchAll(some)].map(({ 0: found, index }) => ({
        start: index,
        end: index + found.length,
        reason: `word:${each.findIndex((word) => word.test(found)) + 1}`,
      })),
  }
}

/** Compiles a pattern of a company; throws a sentence when it is none, or would take too much memory. */
export function compilePattern(pattern: string): RE2JS {
  const repetitions = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Number(most || least))
  if (repetitions.reduce((sum, count) => sum + count, 0) > guardrailLimits.patternRepetitions)
    throw new BadUserInput(`repeats too much: its counted repetitions are at most ${guardrailLimits.patternRepetitions} together`)
  const compiled = compiledOf(pattern)
  if (compiled.test("")) throw new BadUserInput("finds the empty text, so it would find every text")
  return compiled
}

function compiledOf(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new BadUserInput(`is no regular expression of RE2: ${error.message}`)
  }
}

/** Finds what patterns match, in linear time. Their text keeps its case, which they ignore: a pattern may name letters of either. */
export function patternFinder(patterns: readonly string[]): Finder {
  const compiled = patterns.map(compilePattern)
  // Searches for all of them at once; the place of a match is looked for only where there is one, because that is much slower.
  const all = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE)
  for (const pattern of patterns) all.add(pattern)
  all.compile()
  return {
    form: "clean",
    find: ({ text }) => all.match(text).flatMap((index) => firstOf(compiled[index]!, text, `pattern:${index + 1}`)),
  }
}

/** The first match, and those that its excerpt could show: each search may read the whole rest of the text. */
function firstOf(pattern: RE2JS, text: string, reason: string): Match[] {
  const found: Match[] = []
  const matcher = pattern.matcher(text)
  while (matcher.find() && matcher.start() <= (found[0]?.end ?? text.length) + guardrailLimits.excerptCharacters)
    if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end(), reason })
  return found
}
