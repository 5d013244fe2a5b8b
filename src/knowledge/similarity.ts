/** Cosine similarity of a vector and the vector that begins at an offset; both have length one. */
export function cosineSimilarity(vector: Float32Array, vectors: Float32Array, begin: number): number {
  // Four independent sums run in parallel in the processor.
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = 0
  for (; at + 3 < vector.length; at += 4) {
    a += vectors[begin + at]! * vector[at]!
    b += vectors[begin + at + 1]! * vector[at + 1]!
    c += vectors[begin + at + 2]! * vector[at + 2]!
    d += vectors[begin + at + 3]! * vector[at + 3]!
  }
  for (; at < vector.length; at++) a += vectors[begin + at]! * vector[at]!
  return a + b + c + d
}

/** A chunk and its cosine similarity to the query. */
export interface Near {
  id: string
  similarity: number
}

/** Keeps the best items by score, highest first, with a stable order of equal scores. */
export class Best {
  private readonly ids: string[] = []
  private readonly scores: number[] = []
  /** The score that a further item must exceed. */
  floor = 0

  constructor(private readonly most: number) {}

  get all(): Near[] {
    return this.ids.map((id, at) => ({ id, similarity: this.scores[at]! }))
  }

  put(id: string, score: number) {
    let at = this.scores.length
    while (at > 0 && (this.scores[at - 1]! < score || (this.scores[at - 1] === score && this.ids[at - 1]! > id))) at--
    this.scores.splice(at, 0, score)
    this.ids.splice(at, 0, id)
    if (this.ids.length > this.most) {
      this.ids.pop()
      this.scores.pop()
    }
    if (this.ids.length === this.most) this.floor = this.scores.at(-1)!
  }
}
