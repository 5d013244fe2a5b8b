import { LRUCache } from "lru-cache"

interface Kept<T> {
  value: T
  owner: string
}

/**
 * A cache whose room is shared by owners. When it is full, the owner whose values take the most room loses its least recently used value, so
 * that an owner who keeps less than an equal share loses nothing to another.
 */
export class SharedCache<T extends object> {
  readonly #kept = new Map<string, Kept<T>>()
  /** The keys of each owner that keeps a value; what a value takes is the size of its key. */
  readonly #owners = new Map<string, LRUCache<string, true>>()
  #bytes = 0

  /** `maxBytes` is the room; a value that takes more than `maxValueBytes` is not kept. */
  constructor(
    private readonly maxBytes: number,
    private readonly maxValueBytes: number,
  ) {}

  /** Bytes that the kept values take. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the value of a key, of any owner. */
  get(key: string): T | undefined {
    const kept = this.#kept.get(key)
    if (kept) this.#owners.get(kept.owner)!.get(key)
    return kept?.value
  }

  /** Keeps a value, which replaces that of the same key, in the room of its owner. */
  set(key: string, value: T, owner: string, bytes: number) {
    this.#drop(key)
    if (bytes > this.maxValueBytes) return
    while (this.#bytes + bytes > this.maxBytes) this.#drop(this.#largest().rkeys().next().value!)
    const keys = this.#owners.get(owner) ?? new LRUCache<string, true>({ maxSize: this.maxBytes })
    keys.set(key, true, { size: bytes })
    this.#owners.set(owner, keys)
    this.#kept.set(key, { value, owner })
    this.#bytes += bytes
  }

  /** Counts a value that has become larger; one that is not kept any more stays so. */
  resize(key: string, value: T, bytes: number) {
    const kept = this.#kept.get(key)
    if (kept?.value === value) this.set(key, value, kept.owner, bytes)
  }

  /** The keys of the owner whose values take the most room. */
  #largest(): LRUCache<string, true> {
    return [...this.#owners.values()].reduce((largest, keys) => (keys.calculatedSize > largest.calculatedSize ? keys : largest))
  }

  #drop(key: string) {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#kept.delete(key)
    const keys = this.#owners.get(kept.owner)!
    this.#bytes -= keys.calculatedSize
    keys.delete(key)
    this.#bytes += keys.calculatedSize
    if (keys.size === 0) this.#owners.delete(kept.owner)
  }
}
