import { inList, type Reader } from "../database/reader.js"
import type { Query } from "../database/source.js"
import type { Statement } from "../database/unit.js"
import { distance, type IndexVectors } from "../database/vector-index.js"
import { limits } from "../limits.js"
import type { Viewer } from "../schema/kit/viewer.js"
import { chunkSource, type IndexedItem } from "./indexed-items.js"
import type { VectorSearch } from "./vectors.js"

/** Search by pgvector, in the database. */
export class StoredVectors implements VectorSearch {
  private readonly indexed = new Set<number>()

  constructor(
    private readonly indexVectors: IndexVectors,
    /** Takes vectors that are too long for the index. */
    private readonly exact: VectorSearch,
  ) {}

  async nearest(viewer: Viewer, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<string[]> {
    if (vector.length > limits.vectorIndexDimensions) return this.exact.nearest(viewer, assistantId, items, vector)
    if (!this.indexed.has(vector.length)) {
      this.indexed.add(vector.length)
      this.indexVectors(vector.length)
    }
    const rows = await viewer.change(async (within) => {
      await within.run(scanOn, [])
      return closest(within.reader, assistantId, items, vector).execute()
    })
    return rows.flatMap((row) => (row["distance"] < 1 ? [row["id"] as string] : []))
  }
}

/**
 * The index knows neither companies nor assistants: a scan of it goes on until it has found enough among those that are meant. Where the
 * planner expects few of them, it reads them all instead. Set for the transaction.
 */
const scanOn: Statement = {
  name: "scan-vectors-on",
  text: `select set_config('hnsw.iterative_scan', 'strict_order', true),
           set_config('hnsw.ef_search', '${limits.knowledgeCandidates}', true)`,
}

/** The chunks of items that lie closest to a vector, and how far they are from it: 0 is the same, 1 has nothing in common. */
export function closest(reader: Reader, assistantId: string, items: IndexedItem[], vector: Float32Array): Query {
  const { isComparable, between } = distance(vector)
  return reader
    .scoped(chunkSource)
    .where("t.assistant_id", "=", assistantId)
    .where("t.generation", ...inList(items.map(({ generation }) => generation)))
    .where(isComparable)
    .select(["t.id", between.as("distance")])
    .orderBy(between)
    .limit(limits.knowledgeCandidates)
}
