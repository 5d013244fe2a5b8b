/** How alike a vector is to one among others that begins at a place: both are of length one, so it is their cosine. */
export function likeness(vector: Float32Array, vectors: Float32Array, begin: number): number {
  // Four sums do not wait for each other.
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

/** The best of many by their scores, highest first, and alike ones always in the same order. */
export class Best {
  readonly ids: string[] = []
  private readonly scores: number[] = []
  /** What has to be reached. */
  floor = 0

  constructor(private readonly most: number) {}

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
