import type { Logger } from "pino"
import type { Database } from "../database/connect.js"
import { vectorExtension } from "../database/vector-index.js"
import { PackedVectors } from "./packed-vectors.js"
import { StoredVectors } from "./stored-vectors.js"
import type { VectorSearch } from "./vector-search.js"

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
