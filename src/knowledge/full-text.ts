import { thingsOf } from "../ports/kit/thesaurus.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"
import { knowledgeLimits } from "./limits.js"

/**
 * A chunk's words as PostgreSQL's full text keeps them: a text that is cast to tsvector. They are read here and not by `to_tsvector`, which
 * knows one language at a time and no word in a script without spaces. Beside them stands what they mean by the thesaurus, for those who ask
 * in other words, and the assistant, so that a search walks through the assistant's part of the index alone: a chunk that is copied to another
 * assistant is written anew.
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

/** The lexeme that an assistant's chunks have in common; no word has such a sign. */
export const assistantWord = (assistantId: string) => `@${assistantId}`

/** A word that a query asks for, and what it means by the thesaurus, as lexemes. */
export interface AskedWord {
  word: string
  meanings: string[]
}

/** The words that a query asks for, each once, whatever was typed; of very many the longest, which tell most. */
export function askedWords(query: string): AskedWord[] {
  const asked = [...new Map(readWords(query).map((one) => [one.word, one])).values()]
  if (asked.length <= knowledgeLimits.knowledgeQueryWords) return asked
  return asked.sort((one, other) => other.word.length - one.word.length).slice(0, knowledgeLimits.knowledgeQueryWords)
}

// Letters and digits only, so nothing has to be quoted; a lexeme has an upper bound.
function readWords(text: string): AskedWord[] {
  return words(text).flatMap((word) =>
    isStopWord(word)
      ? []
      : [{ word: stem(word).slice(0, knowledgeLimits.knowledgeWord), meanings: thingsOf(word).map((thing) => `#${thing}`) }],
  )
}
