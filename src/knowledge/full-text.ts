import { limits } from "../limits.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"

/**
 * A chunk's words as PostgreSQL's full text keeps them: a text that is cast to tsvector. They are read here and not by `to_tsvector`, which
 * knows one language at a time and no word in a script without spaces. The assistant is among them, so that a search walks through the
 * assistant's part of the index alone: a chunk that is copied to another assistant is written anew.
 */
export function fullText(content: string, assistantId: string): string {
  const places = new Map<string, number[]>()
  for (const [at, word] of stems(content).entries()) {
    const known = places.get(word)
    if (known) known.push(at + 1)
    else places.set(word, [at + 1])
  }
  return [`'${assistantWord(assistantId)}'`, ...[...places].map(([word, at]) => `'${word}':${at.join(",")}`)].join(" ")
}

/** The lexeme that an assistant's chunks have in common; no word has such a sign. */
export const assistantWord = (assistantId: string) => `@${assistantId}`

/** The lexemes that a query asks for, whatever was typed; of very many the longest, which tell most. */
export function askedWords(query: string): string[] {
  const asked = [...new Set(stems(query))]
  if (asked.length <= limits.knowledgeQueryWords) return asked
  return asked.sort((one, other) => other.length - one.length).slice(0, limits.knowledgeQueryWords)
}

// Letters and digits only, so nothing has to be quoted; a lexeme has an upper bound.
function stems(text: string): string[] {
  return words(text).flatMap((word) => (isStopWord(word) ? [] : stem(word).slice(0, limits.knowledgeWord)))
}
