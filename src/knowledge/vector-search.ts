import type { RequestContext } from "../context/request-context.js"
import type { IndexedItem } from "./indexed-items.js"
import type { Near } from "./similarity.js"

/** Search by vectors. */
export interface VectorSearch {
  /** The chunks of these items closest to a vector, best first; those with a negative similarity are left out. */
  nearest(context: RequestContext, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<Near[]>
}
