import type { RequestContext } from "../context/request-context.js"
import { inList, type Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import type { Statement } from "../database/unit-of-work.js"
import { distance, type IndexVectors } from "../database/vector-index.js"
import { chunkReadModel, type IndexedItem } from "./indexed-items.js"
import { knowledgeLimits } from "./limits.js"
import type { VectorSearch } from "./vectors.js"

/** Search by pgvector, in the database. */
export class StoredVectors implements VectorSearch {
  private readonly indexed = new Set<number>()

  constructor(
    private readonly indexVectors: IndexVectors,
    /** Takes vectors that are too long for the index. */
    private readonly exact: VectorSearch,
  ) {}

  async nearest(context: RequestContext, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<string[]> {
    if (vector.length > knowledgeLimits.vectorIndexDimensions) return this.exact.nearest(context, assistantId, items, vector)
    if (!this.indexed.has(vector.length)) {
      this.indexed.add(vector.length)
      this.indexVectors(vector.length)
    }
    const rows = await context.transaction(async (tx) => {
      await tx.run(scanOn, [])
      return runQuery(tx.reader, closest(tx.reader, assistantId, items, vector))
    })
    return rows.flatMap((row) => (row.distance < 1 ? [row.id] : []))
  }
}

/**
 * The index knows neither companies nor assistants: a scan of it goes on until it has found enough among those that are meant. Where the
 * planner expects few of them, it reads them all instead. Set for the transaction.
 */
export const scanOn: Statement = {
  name: "scan-vectors-on",
  text: `select set_config('hnsw.iterative_scan', 'strict_order', true),
           set_config('hnsw.ef_search', '${knowledgeLimits.knowledgeCandidates}', true)`,
}

/** The chunks of items that lie closest to a vector, and how far they are from it: 0 is the same, 1 has nothing in common. */
export function closest(reader: Reader, assistantId: string, items: IndexedItem[], vector: Float32Array) {
  const { isComparable, between } = distance(vector)
  return reader
    .scoped(chunkReadModel)
    .where("t.assistant_id", "=", assistantId)
    .where("t.generation", ...inList(items.map(({ generation }) => generation)))
    .where(isComparable)
    .select(["t.id", between.as("distance")])
    .orderBy(between)
    .limit(knowledgeLimits.knowledgeCandidates)
}
