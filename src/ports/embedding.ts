/** Computes vectors of texts, close for similar meanings; `id` names vendor and model. Vectors of different IDs are not compared. */
export interface Embedding {
  id: string
  /** Dimensions of the vectors; null when only the vendor knows them. */
  dimensions: number | null
  /** Cosine similarity from which a text says something about a question. */
  foundFrom: number
  /** Cosine similarity from which two questions ask for the same. */
  sameFrom: number
  /**
   * Returns the vectors of texts, in order, each of length one; a text without words and numbers may have the zero vector. Sends as many
   * requests as needed, sequentially and without retries; throws only `EmbeddingFailure`.
   */
  embed(texts: string[], signal: AbortSignal): Promise<Float32Array[]>
}

/** Thrown when a request for vectors failed; `message` is one sentence, safe to show and log, `status` the vendor's status, if any. */
export class EmbeddingFailure extends Error {
  override name = "EmbeddingFailure"

  constructor(
    message: string,
    readonly status: number | null = null,
    /** Whether a retry may succeed. */
    readonly isWorthRetrying = status === null || isPassing(status),
  ) {
    super(message)
  }
}

// Timeouts, rate limits and server errors may pass; other refusals concern the request. An unreadable 200 may come from a proxy.
const isPassing = (status: number) => status < 300 || status === 408 || status === 409 || status === 425 || status === 429 || status >= 500

/** Scales a vector to length one, in place; the zero vector is unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  const length = Math.sqrt(square)
  if (length > 0) for (let at = 0; at < vector.length; at++) vector[at]! /= length
  return vector
}
