import { searchKnowledge } from "../entities/kit/system-tools.js"
import type { MessageSource } from "../entities/message.js"
import type { KnowledgeMatch } from "../knowledge/search.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"
import type { ModelMessage } from "../ports/text-model.js"

/** A piece of knowledge that an answer may be based on. */
interface Candidate {
  source: MessageSource
  content: string
}

/**
 * The sources of an answer: knowledge in the prompt whose content the answer repeats, and of the turn's search results those that it repeats,
 * or all of them where no words match, as between two languages.
 */
export function sourcesOf(
  answer: string,
  messages: ModelMessage[],
  given: { id: string; name: string; content: string }[],
): MessageSource[] {
  const answerWords = subjects(answer)
  const asItIs = given.map(
    ({ id, name, content }): Candidate => ({ source: { knowledgeId: id, knowledgeName: name, chunkId: null }, content }),
  )
  const found = searched(messages)
  const used = found.filter(({ content }) => isMentioned(answerWords, content))
  return [...(used.length > 0 ? used : found), ...asItIs.filter(({ content }) => isMentioned(answerWords, content))].map(
    ({ source }) => source,
  )
}

/** Search results since the assistant's last message, each chunk once. */
function searched(messages: ModelMessage[]): Candidate[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "assistant" || role === "person") + 1)
  const matches = turn.flatMap((message) =>
    message.role === "result" && message.name === searchKnowledge.name
      ? ((message.output as { data?: KnowledgeMatch[] } | null)?.data ?? [])
      : [],
  )
  const byChunk = new Map(matches.map((match) => [match.chunkId, match]))
  return [...byChunk.values()].map(({ knowledgeId, knowledgeName, chunkId, content }) => ({
    source: { knowledgeId, knowledgeName, chunkId },
    content,
  }))
}

/** The stems of a text's content words. */
const subjects = (text: string) =>
  new Set(
    words(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  )

/** Whether an answer shares at least a third of its content words, and more than one, with a paragraph of a text. */
function isMentioned(answerWords: Set<string>, content: string): boolean {
  // A stem begins like its word: this check avoids stemming most words of a long text.
  const beginnings = new Set([...answerWords].map(beginning))
  return content.split(/\n+/).some((paragraph) => {
    const there = words(paragraph).filter((word) => beginnings.has(beginning(word)))
    const shared = [...new Set(there.map(stem))].filter((word) => answerWords.has(word)).length
    return shared > 1 && shared >= answerWords.size / 3
  })
}

const beginning = (word: string) => word.slice(0, 3)
