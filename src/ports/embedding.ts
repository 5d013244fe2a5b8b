/** Turns texts into vectors that lie close when the texts say the like; `id` names vendor and model, and vectors of different ids are not compared. */
export interface Embedding {
  id: string
  /** Length of its vectors; null where the vendor alone knows it. */
  dimensions: number | null
  /**
   * The vectors of texts, in their order, each of length one; a text without a word or number may have the vector of zeros, which is like
   * nothing. Asks as many times as it must, one request after the other and none twice; throws `EmbeddingFailure` and nothing else.
   */
  embed(texts: string[], signal: AbortSignal): Promise<Float32Array[]>
}

/** No vectors came; `message` is one short sentence without keys, safe to show and to log, `status` the vendor's HTTP status if it gave one. */
export class EmbeddingFailure extends Error {
  override name = "EmbeddingFailure"

  constructor(
    message: string,
    readonly status: number | null = null,
    /** Whether the same texts may have more luck later. */
    readonly isWorthRetrying = status === null || isPassing(status),
  ) {
    super(message)
  }
}

// Too slow, too many, or the vendor's own fault; every other refusal is about what was asked. An unreadable answer with 200 may be a proxy's.
const isPassing = (status: number) => status < 300 || status === 408 || status === 409 || status === 425 || status === 429 || status >= 500

/** Scales a vector to length one, in place; the vector of zeros stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  const length = Math.sqrt(square)
  if (length > 0) for (let at = 0; at < vector.length; at++) vector[at]! /= length
  return vector
}
