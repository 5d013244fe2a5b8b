import type { Logger } from "pino"
import type { RequestContext } from "../context/request-context.js"
import type { Database } from "../database/connect.js"
import { vectorExtension } from "../database/vector-index.js"
import type { IndexedItem } from "./indexed-items.js"
import { PackedVectors } from "./packed-vectors.js"
import type { Near } from "./similarity.js"
import { StoredVectors } from "./stored-vectors.js"

/** Search by vectors. */
export interface VectorSearch {
  /** The chunks of these items closest to a vector, best first; those with a negative similarity are left out. */
  nearest(context: RequestContext, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<Near[]>
}

declare module "../context/services.js" {
  interface Services {
    /** Finds the chunks whose vectors are closest to a query's. */
    vectors: VectorSearch
  }
}

/** Searches vectors in the database where it has pgvector, and in the process elsewhere. */
export async function vectorSearch(database: Database, log: Logger): Promise<VectorSearch> {
  const exact = new PackedVectors()
  const indexVectors = await vectorExtension(database, log)
  return indexVectors ? new StoredVectors(indexVectors, exact) : exact
}
