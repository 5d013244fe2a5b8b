import { thingsOf } from "../ports/kit/thesaurus.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"
import { knowledgeLimits } from "./limits.js"

/**
 * A chunk's lexemes as text that is cast to tsvector. They are not made by `to_tsvector`, which handles one language at a time and no script
 * without spaces. The thesaurus's concepts are added for queries in other words, and a lexeme of the assistant, so that a search reads only
 * that assistant's part of the index: the full text of a chunk that is copied to another assistant is computed again.
 */
export function fullText(content: string, assistantId: string): string {
  const places = new Map<string, number[]>()
  for (const [at, { word, meanings }] of readWords(content).entries()) {
    for (const lexeme of [word, ...meanings]) {
      const known = places.get(lexeme)
      if (known) known.push(at + 1)
      else places.set(lexeme, [at + 1])
    }
  }
  return [`'${assistantWord(assistantId)}'`, ...[...places].map(([lexeme, at]) => `'${lexeme}':${at.join(",")}`)].join(" ")
}

/** The lexeme of an assistant's chunks; no word contains its sign. */
export const assistantWord = (assistantId: string) => `@${assistantId}`

/** A query word and its thesaurus concepts, as lexemes. */
export interface AskedWord {
  word: string
  meanings: string[]
}

/** The distinct words of a query; of very many the longest, which are the most selective. */
export function askedWords(query: string): AskedWord[] {
  const asked = [...new Map(readWords(query).map((one) => [one.word, one])).values()]
  if (asked.length <= knowledgeLimits.knowledgeQueryWords) return asked
  return asked.sort((one, other) => other.word.length - one.word.length).slice(0, knowledgeLimits.knowledgeQueryWords)
}

// Letters and digits only, so no quoting is needed; a lexeme's length is limited.
function readWords(text: string): AskedWord[] {
  return words(text).flatMap((word) =>
    isStopWord(word)
      ? []
      : [{ word: stem(word).slice(0, knowledgeLimits.knowledgeWord), meanings: thingsOf(word).map((thing) => `#${thing}`) }],
  )
}
