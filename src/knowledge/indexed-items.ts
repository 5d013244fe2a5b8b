import { sql } from "kysely"
import { type Query, readModel } from "../database/read-model.js"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import { knowledgeReadModel } from "../schema/knowledge.js"

/**
 * A chunk is always looked for by its words, its item or its id. That it is of a company in reach is asked of what was found, in a way that no
 * index answers: the planner would walk through all that the company has, and then throw it away.
 */
export const chunkReadModel = readModel("KnowledgeChunk", {}, (query, companyIds) =>
  query.where(sql<boolean>`coalesce(t.company_id = any(${companyIds}::uuid[]), false)`),
)

/** An item whose chunks are searched. What a generation holds never changes, so it may be remembered by its id. */
export interface IndexedItem {
  id: string
  generation: string
  chunks: number
}

/** The items of an assistant that are searched, as a query: only what is indexed, by the run that made its index. */
export const indexed = (reader: Reader, assistantId: string): Query<"Knowledge", unknown> =>
  reader.scoped(knowledgeReadModel).where("t.assistant_id", "=", assistantId).where("t.index_status", "=", "indexed")

/** Those of them whose vectors a model has made, as they are at this moment; in one value, since an assistant may have thousands. */
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
