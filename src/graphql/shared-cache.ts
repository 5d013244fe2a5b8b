import { LRUCache } from "lru-cache"

interface Kept<T> {
  value: T
  owner: string
  bytes: number
}

/**
 * A cache whose room is shared by owners. When it is full, the owner whose values take the most room loses its least recently used value, so
 * that an owner who keeps less than an equal share loses nothing to another.
 */
export class SharedCache<T extends object> {
  readonly #kept: LRUCache<string, Kept<T>>
  readonly #taken = new Map<string, number>()

  /** `maxBytes` is the room; a value that takes more than `maxValueBytes` is not kept. */
  constructor(
    private readonly maxBytes: number,
    private readonly maxValueBytes: number,
  ) {
    this.#kept = new LRUCache<string, Kept<T>>({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: ({ owner, bytes }) => this.#take(owner, -bytes),
    })
  }

  /** Bytes that the kept values take. */
  get bytes(): number {
    return this.#kept.calculatedSize
  }

  /** Returns the value of a key, of any owner. */
  get(key: string): T | undefined {
    return this.#kept.get(key)?.value
  }

  /** Keeps a value, which replaces that of the same key, in the room of its owner. */
  set(key: string, value: T, owner: string, bytes: number) {
    this.#kept.delete(key)
    if (bytes > this.maxValueBytes) return
    while (this.bytes + bytes > this.maxBytes) this.#dropOneOf(this.#largestOwner())
    this.#take(owner, bytes)
    this.#kept.set(key, { value, owner, bytes })
  }

  /** Counts a value that has become larger; one that is not kept any more stays so. */
  resize(key: string, value: T, bytes: number) {
    const kept = this.#kept.peek(key)
    if (kept?.value === value) this.set(key, value, kept.owner, bytes)
  }

  #largestOwner(): string {
    let largest = ["", 0] as [string, number]
    for (const each of this.#taken) if (each[1] > largest[1]) largest = each
    return largest[0]
  }

  #dropOneOf(owner: string) {
    for (const key of this.#kept.rkeys()) {
      if (this.#kept.peek(key)?.owner !== owner) continue
      this.#kept.delete(key)
      return
    }
  }

  #take(owner: string, bytes: number) {
    const taken = (this.#taken.get(owner) ?? 0) + bytes
    if (taken > 0) this.#taken.set(owner, taken)
    else this.#taken.delete(owner)
  }
}
