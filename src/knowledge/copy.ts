import { v7 } from "uuid"
import { copyRows } from "../database/copy-rows.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { Knowledge } from "../entities/knowledge.js"
import { KnowledgeChunk } from "../entities/knowledge-chunk.js"
import { assistantWord } from "./full-text.js"

/** Shared locks, because items and their indexes must not change while they are copied. */
const itemsOf: Statement<{ id: string; generation: string | null }> = {
  name: "items-to-copy",
  text: `select id, index_generation as generation from knowledge where assistant_id = $1 and company_id = any($2::uuid[])
         order by created_at, id for share`,
}

const chunksOf: Statement<{ id: string; item: string }> = {
  name: "chunks-to-copy",
  text: `select c.id, c.knowledge_id as item from knowledge_chunk c
         join knowledge k on k.id = c.knowledge_id and k.index_generation = c.generation
         where k.assistant_id = $1 and k.company_id = any($2::uuid[]) order by c.knowledge_id, c.position`,
}

/**
 * Copies the knowledge of an assistant to another one. Indexes are copied with their vectors, without new embeddings; files are shared and
 * kept while an item uses them. Items that are being indexed are indexed for the copy as well.
 */
export async function copyKnowledge(unit: UnitOfWork, sourceId: string, copyId: string): Promise<void> {
  const items = await unit.run(itemsOf, [sourceId, unit.scope.companyIds])
  const fresh = new Map(items.map(({ id, generation }) => [id, { id: v7(), generation: generation && v7() }]))
  const now = "$2::timestamptz"
  await copyRows(unit, Knowledge, [...fresh.keys()], {
    each: {
      id: [...fresh.values()].map(({ id }) => id),
      indexGeneration: [...fresh.values()].map(({ generation }) => generation),
    },
    all: {
      assistantId: "$1::uuid",
      createdAt: now,
      updatedAt: now,
      indexing_dueAt: "null",
      indexing_runId: "null",
      indexing_leaseUntil: "null",
      indexing_failures: "0",
    },
    values: [copyId, clock.now()],
  })
  const chunks = await unit.run(chunksOf, [sourceId, unit.scope.companyIds])
  await copyRows(
    unit,
    KnowledgeChunk,
    chunks.map(({ id }) => id),
    {
      each: {
        id: chunks.map(() => v7()),
        knowledgeId: chunks.map(({ item }) => fresh.get(item)!.id),
        generation: chunks.map(({ item }) => fresh.get(item)!.generation),
      },
      // The full text contains a lexeme of the assistant.
      all: { assistantId: "$1::uuid", tsv: "ts_delete(t.tsv, $2::text) || quote_literal($3::text)::tsvector" },
      values: [copyId, assistantWord(sourceId), assistantWord(copyId)],
    },
  )
  for (const item of await unit.em.find(Knowledge, { assistantId: copyId, indexStatus: "pending" })) item.recrawl()
}
