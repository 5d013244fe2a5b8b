import { thingsOf } from "../ports/kit/thesaurus.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"
import { knowledgeLimits } from "./limits.js"

/**
 * A chunk's lexemes as text that is cast to tsvector. `to_tsvector` is not used, because it supports one language at a time and no scripts
 * without spaces. Concepts of the thesaurus are added, which match queries in other words, and a lexeme of the assistant, so that a search
 * reads only that assistant's part of the index: a chunk that is copied to another assistant gets a new full text.
 */
export function fullText(content: string, assistantId: string): string {
  const places = new Map<string, number[]>()
  for (const [at, { word, concepts }] of readWords(content).entries()) {
    for (const lexeme of [word, ...concepts]) {
      const known = places.get(lexeme)
      if (known) known.push(at + 1)
      else places.set(lexeme, [at + 1])
    }
  }
  return [`'${assistantWord(assistantId)}'`, ...[...places].map(([lexeme, at]) => `'${lexeme}':${at.join(",")}`)].join(" ")
}

/** The lexeme of an assistant's chunks; its sign occurs in no word. */
export const assistantWord = (assistantId: string) => `@${assistantId}`

/** A query word and its thesaurus concepts, as lexemes. */
export interface Term {
  word: string
  concepts: string[]
}

/** The distinct words of a query; of too many, the longest, which are the most selective. */
export function askedWords(query: string): Term[] {
  const asked = [...new Map(readWords(query).map((one) => [one.word, one])).values()]
  if (asked.length <= knowledgeLimits.knowledgeQueryWords) return asked
  return asked.sort((one, other) => other.word.length - one.word.length).slice(0, knowledgeLimits.knowledgeQueryWords)
}

/** How many of the words a text has, each itself or by a concept. */
export function sharedWords(asked: Term[], content: string): number {
  const there = new Set(readWords(content).flatMap(({ word, concepts }) => [word, ...concepts]))
  return asked.filter(({ word, concepts }) => there.has(word) || concepts.some((concept) => there.has(concept))).length
}

// Letters and digits only, so no quoting is needed; a lexeme's length is limited.
function readWords(text: string): Term[] {
  return words(text).flatMap((word) =>
    isStopWord(word)
      ? []
      : [{ word: stem(word).slice(0, knowledgeLimits.knowledgeWord), concepts: thingsOf(word).map((thing) => `#${thing}`) }],
  )
}
