import { sql } from "kysely"
import { type Query, readModel } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import { knowledgeReadModel } from "../schema/knowledge.js"

/**
 * Chunks are found by words, item or id. The company is checked on the rows found, by an expression without an index: otherwise the planner
 * could read all chunks of the company and filter them.
 */
export const chunkReadModel = readModel("KnowledgeChunk", {}, (query, companyIds) =>
  query.where(sql<boolean>`coalesce(t.company_id = any(${companyIds}::uuid[]), false)`),
)

/** An item whose chunks are searched. A generation never changes, so it can be cached by its id. */
export interface IndexedItem {
  id: string
  generation: string
  chunks: number
}

/** A query for the searched items of an assistant, with the generation of each index. */
export const indexed = (reader: Reader, assistantId: string): Query<"Knowledge", unknown> =>
  reader.scoped(knowledgeReadModel).where("t.assistant_id", "=", assistantId).where("t.index_status", "=", "indexed")

/** Those with vectors of the given model, as one JSON value, since an assistant may have thousands. */
export async function indexedItems(reader: Reader, assistantId: string, model: string): Promise<IndexedItem[]> {
  const query = indexed(reader, assistantId)
    .where("t.embedding_model", "=", model)
    .select(sql<string | null>`string_agg(concat_ws(' ', t.id, t.index_generation, t.chunk_count), ',')`.as("list"))
  const [row] = await runQuery(reader, query)
  return (row?.list ?? "").split(",").flatMap((item) => {
    const [id, generation, chunks] = item.split(" ")
    return id && generation ? [{ id, generation, chunks: Number(chunks) }] : []
  })
}
