import { sql } from "kysely"
import type { RequestContext } from "../context/request-context.js"
import { runQuery } from "../database/run-query.js"
import { askedWords, sharedWords, type Term } from "./full-text.js"
import { chunkReadModel, indexed, indexedItems } from "./indexed-items.js"
import { knowledgeLimits } from "./limits.js"
import { byWords } from "./search-words.js"
import type { Near } from "./similarity.js"

/** A chunk found by a search. */
export interface KnowledgeMatch {
  knowledgeId: string
  knowledgeName: string
  chunkId: string
  content: string
  /** Its place in the item: 0, 1, 2 … */
  position: number
  /** 0 to 1, fused from its ranks by words and by meaning; 1 is first in both. */
  score: number
}

/** What a search found. */
export interface Found {
  /** The best matches, best first; also where none says anything about the query. */
  matches: KnowledgeMatch[]
  /** Whether one of them says something about the query. */
  isFound: boolean
}

/** The chunks of an assistant that match a query best, best first, by words and by vector, from the current state of the database. */
export async function searchChunks(
  context: RequestContext,
  assistantId: string,
  query: string,
  vector: Float32Array,
  take: number,
): Promise<Found> {
  const asked = askedWords(query)
  for (let tries = 1; ; tries++) {
    const [words, near] = await Promise.all([byWords(context.reader, assistantId, asked), byMeaning(context, assistantId, vector)])
    const found = fused([words, near.map(({ id }) => id)]).slice(0, take)
    const matches = await read(context, assistantId, found)
    // An item was indexed again during the search: repeat both searches, so that it is not missing.
    if (matches.length === found.length || tries === knowledgeLimits.knowledgeSearchTries)
      return { matches, isFound: isFound(context, asked, near, matches) }
  }
}

/** Whether a match is close to the query in meaning, or has most of its words. Without words, any match will do. */
function isFound({ services }: RequestContext, asked: Term[], near: Near[], matches: KnowledgeMatch[]): boolean {
  if (asked.length === 0) return matches.length > 0
  const close = new Set(near.filter(({ similarity }) => similarity >= services.embedding.foundFrom).map(({ id }) => id))
  return matches.some(({ chunkId, content }) => close.has(chunkId) || sharedWords(asked, content) > asked.length / 2)
}

/** Search by meaning: chunks, best first; empty for a query without words. */
export async function byMeaning(context: RequestContext, assistantId: string, vector: Float32Array): Promise<Near[]> {
  const { embedding, vectors } = context.services
  if (vector.every((value) => value === 0)) return []
  const items = await indexedItems(context.reader, assistantId, embedding.id)
  return items.length === 0 ? [] : vectors.nearest(context, assistantId, items, vector)
}

/** Constant of reciprocal rank fusion; small, since few results are taken and the first of each search should be among them. */
const RRF_K = 5

/** Merges two rankings by reciprocal rank fusion. */
export function fused(halves: string[][]): { id: string; score: number }[] {
  const scores = new Map<string, number>()
  for (const half of halves) {
    for (const [place, id] of half.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + (RRF_K + 1) / (RRF_K + 1 + place) / halves.length)
    }
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score)
}

/** Reads the chunks found, in order; chunks that are no longer searched are left out. */
async function read(context: RequestContext, assistantId: string, found: { id: string; score: number }[]): Promise<KnowledgeMatch[]> {
  if (found.length === 0) return []
  const { reader } = context
  const items = indexed(reader, assistantId).select(["t.id", "t.index_generation", "t.name"])
  const query = reader
    .scoped(chunkReadModel)
    .innerJoin(items.as("item"), (join) => join.onRef("item.id", "=", "t.knowledge_id").onRef("item.index_generation", "=", "t.generation"))
    .where(sql<boolean>`t.id = any(${found.map(({ id }) => id)}::uuid[])`)
    .select(["t.id", "t.knowledge_id", "t.content", "t.position", "item.name"])
  const byId = new Map((await runQuery(reader, query)).map((row) => [row.id, row]))
  return found.flatMap(({ id, score }) => {
    const row = byId.get(id)
    if (!row) return []
    const { knowledge_id: knowledgeId, name: knowledgeName, content, position } = row
    return [{ knowledgeId, knowledgeName, chunkId: id, content, position, score }]
  })
}
