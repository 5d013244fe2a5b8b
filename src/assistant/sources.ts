import { searchKnowledge } from "../entities/kit/system-tools.js"
import type { MessageSource } from "../entities/message.js"
import type { KnowledgeMatch } from "../knowledge/search.js"
import { isStopWord, stem, words } from "../ports/kit/words.js"
import type { ModelMessage } from "../ports/text-model.js"

/** A piece of knowledge that an answer may be made from. */
interface Candidate {
  source: MessageSource
  content: string
}

/**
 * What an answer was made from: what the model was given as it is, where the answer says it; and of what it searched for in this turn, what the
 * answer says, or all of it where no words agree, as between two languages.
 */
export function sourcesOf(
  answer: string,
  messages: ModelMessage[],
  given: { id: string; name: string; content: string }[],
): MessageSource[] {
  const said = subjects(answer)
  const asItIs = given.map(
    ({ id, name, content }): Candidate => ({ source: { knowledgeId: id, knowledgeName: name, chunkId: null }, content }),
  )
  const found = searched(messages)
  const used = found.filter(({ content }) => isSaid(said, content))
  return [...(used.length > 0 ? used : found), ...asItIs.filter(({ content }) => isSaid(said, content))].map(({ source }) => source)
}

/** What searches have found since the assistant last spoke, each chunk once. */
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

/** The words of a text that carry its subject, without their endings. */
const subjects = (text: string) =>
  new Set(
    words(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  )

/** Whether an answer says what stands in one paragraph of a text: at least a third of what it speaks of, and more than a single word. */
function isSaid(said: Set<string>, content: string): boolean {
  // A word's beginning outlives its stemming, which is what costs in a long text.
  const beginnings = new Set([...said].map(beginning))
  return content.split(/\n+/).some((paragraph) => {
    const there = words(paragraph).filter((word) => beginnings.has(beginning(word)))
    const shared = [...new Set(there.map(stem))].filter((word) => said.has(word)).length
    return shared > 1 && shared >= said.size / 3
  })
}

const beginning = (word: string) => word.slice(0, 3)
