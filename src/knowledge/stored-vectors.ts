import type { RequestContext } from "../context/request-context.js"
import { equalsAny, type Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import type { Statement } from "../database/unit-of-work.js"
import { distance, type IndexVectors } from "../database/vector-index.js"
import { chunkReadModel, type IndexedItem } from "./indexed-items.js"
import { knowledgeLimits } from "./limits.js"
import type { Near } from "./similarity.js"
import type { VectorSearch } from "./vector-search.js"

/** Search by pgvector, in the database. */
export class StoredVectors implements VectorSearch {
  private readonly indexed = new Set<number>()

  constructor(
    private readonly indexVectors: IndexVectors,
    /** Searches vectors that are too long for the index. */
    private readonly exact: VectorSearch,
  ) {}

  async nearest(context: RequestContext, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<Near[]> {
    if (vector.length > knowledgeLimits.vectorIndexDimensions) return this.exact.nearest(context, assistantId, items, vector)
    if (!this.indexed.has(vector.length)) {
      this.indexed.add(vector.length)
      this.indexVectors(vector.length)
    }
    const rows = await context.transaction(async (tx) => {
      await tx.run(scanOn, [])
      return runQuery(tx.reader, closest(tx.reader, assistantId, items, vector))
    })
    return rows.flatMap(({ id, distance }) => (distance < 1 ? [{ id, similarity: 1 - distance }] : []))
  }
}

/**
 * The index holds vectors of all companies and assistants: iterative scans continue until enough rows pass the filter. Where the planner
 * expects few rows, it reads them all instead. Set for the transaction.
 */
const scanOn: Statement = {
  name: "scan-vectors-on",
  text: `select set_config('hnsw.iterative_scan', 'strict_order', true),
           set_config('hnsw.ef_search', '${knowledgeLimits.knowledgeCandidates}', true)`,
}

/** The chunks closest to a vector with their cosine distance: 0 is identical, 1 unrelated. */
export function closest(reader: Reader, assistantId: string, items: IndexedItem[], vector: Float32Array) {
  const { isComparable, between } = distance(vector)
  return reader
    .scoped(chunkReadModel)
    .where("t.assistant_id", "=", assistantId)
    .where("t.generation", ...equalsAny(items.map(({ generation }) => generation)))
    .where(isComparable)
    .select(["t.id", between.as("distance")])
    .orderBy(between)
    .limit(knowledgeLimits.knowledgeCandidates)
}
