import { setImmediate as yieldToEventLoop } from "node:timers/promises"
import { sql } from "kysely"
import { LRUCache } from "lru-cache"
import type { RequestContext } from "../context/request-context.js"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import { chunkReadModel, type IndexedItem } from "./indexed-items.js"
import { knowledgeLimits } from "./limits.js"
import { Best, cosineSimilarity, type Near } from "./similarity.js"
import type { VectorSearch } from "./vector-search.js"

/** The vectors of one generation, concatenated, and the ids of their chunks. */
interface Block {
  ids: string[]
  vectors: Float32Array
}

/**
 * Exact search in the process, over vectors that are cached up to a limit in bytes. A generation never changes, so the cache is never stale:
 * which generations are searched is read for every search.
 */
export class PackedVectors implements VectorSearch {
  private readonly blocks: LRUCache<string, Block>
  /** The running read of each assistant: concurrent searches of the same assistant wait for it. */
  private readonly reading = new Map<string, Promise<void>>()

  constructor(maxBytes: number = knowledgeLimits.vectorCacheBytes) {
    this.blocks = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ ids, vectors }) => vectors.byteLength + (ids.length + 1) * ID_BYTES,
    })
  }

  /** Bytes in the cache. */
  get bytes() {
    return this.blocks.calculatedSize
  }

  async nearest({ reader }: RequestContext, assistantId: string, items: IndexedItem[], vector: Float32Array): Promise<Near[]> {
    const best = new Best(knowledgeLimits.knowledgeCandidates)
    const missing = await this.score(items, vector, best)
    if (missing.length > 0) {
      await this.inTurn(assistantId, async () => {
        // An earlier search may have read them.
        const unread = await this.score(missing, vector, best)
        for await (const [item, block] of readBlocks(reader, unread, vector.length)) {
          this.blocks.set(keyOf(item, vector), block)
          scoreBlock(block, vector, best)
        }
      })
    }
    return best.all
  }

  /** Scores cached generations and returns the items that are not cached. */
  private async score(items: IndexedItem[], vector: Float32Array, best: Best): Promise<IndexedItem[]> {
    let sinceYield = 0
    const missing: IndexedItem[] = []
    for (const item of items) {
      const block = this.blocks.get(keyOf(item, vector))
      if (!block) {
        missing.push(item)
        continue
      }
      scoreBlock(block, vector, best)
      sinceYield += block.vectors.length
      // Yield between items: a hundred thousand chunks would block the event loop.
      if (sinceYield > knowledgeLimits.vectorNumbersAtOnce) {
        sinceYield = 0
        await yieldToEventLoop()
      }
    }
    return missing
  }

  private async inTurn(assistantId: string, work: () => Promise<void>) {
    const before = this.reading.get(assistantId)
    const turn = (async () => {
      // A failed read is reported to the search that started it.
      await before?.catch(() => {})
      await work()
    })()
    this.reading.set(assistantId, turn)
    try {
      await turn
    } finally {
      if (this.reading.get(assistantId) === turn) this.reading.delete(assistantId)
    }
  }
}

/** Approximate bytes of an id and its place in a list. */
const ID_BYTES = 80

/** Vectors of another length are not compared: a vendor may change the length under the same name. */
const keyOf = ({ generation }: IndexedItem, vector: Float32Array) => `${generation} ${vector.length}`

function scoreBlock({ ids, vectors }: Block, vector: Float32Array, best: Best) {
  for (let chunk = 0; chunk < ids.length; chunk++) {
    const score = cosineSimilarity(vector, vectors, chunk * vector.length)
    if (score >= best.floor && score > 0) best.put(ids[chunk]!, score)
  }
}

/** Reads the vectors of items in batches; an item that was deleted or indexed again meanwhile has none. */
async function* readBlocks(reader: Reader, items: IndexedItem[], size: number): AsyncGenerator<[IndexedItem, Block]> {
  // One buffer for all: ten thousand small ones would burden the garbage collector.
  const scratch = Buffer.allocUnsafe(SENT_HEAD + size * SENT_NUMBER)
  for (const batch of batches(items)) {
    const found = new Map<string, { ids: string[]; parts: Float32Array[] }>()
    const most = Math.max(...batch.map(({ chunks }) => chunks))
    for (let from = 0; from < most; from += knowledgeLimits.vectorReadRows) {
      const query = reader
        .scoped(chunkReadModel)
        .where("t.knowledge_id", "=", sql<string>`any(${batch.map(({ id }) => id)}::uuid[])`)
        .where("t.generation", "=", sql<string>`any(${batch.map(({ generation }) => generation)}::uuid[])`)
        .where(sql<boolean>`cardinality(t.embedding) = ${size}`)
        .where("t.position", ">=", from)
        .where("t.position", "<", from + knowledgeLimits.vectorReadRows)
        .select(["t.id", "t.generation", sql<string>`encode(array_send(t.embedding), 'base64')`.as("sent")])
        .orderBy("t.position")
      for (const { id, generation, sent } of await runQuery(reader, query)) {
        const block = found.get(generation) ?? { ids: [], parts: [] }
        found.set(generation, block)
        block.ids.push(id)
        block.parts.push(floatsOf(sent, scratch))
      }
    }
    for (const item of batch) {
      const block = found.get(item.generation)
      if (block) yield [item, { ids: block.ids, vectors: packed(block.parts, size) }]
    }
  }
}

/** Groups small items up to the rows of one statement. */
function batches(items: IndexedItem[]): IndexedItem[][] {
  const made: IndexedItem[][] = []
  let room = 0
  for (const item of items) {
    room -= item.chunks
    const last = made.at(-1)
    if (last && room >= 0) last.push(item)
    else {
      made.push([item])
      room = knowledgeLimits.vectorReadRows - item.chunks
    }
  }
  return made
}

/** PostgreSQL's binary form of real[]: a header, then length and value of each number. */
const SENT_HEAD = 20
const SENT_NUMBER = 8

function floatsOf(sent: string, scratch: Buffer): Float32Array {
  scratch.write(sent, "base64")
  const floats = new Float32Array((scratch.length - SENT_HEAD) / SENT_NUMBER)
  for (let at = 0; at < floats.length; at++) floats[at] = scratch.readFloatBE(SENT_HEAD + at * SENT_NUMBER + 4)
  return floats
}

function packed(parts: Float32Array[], size: number): Float32Array {
  const vectors = new Float32Array(parts.length * size)
  for (const [at, part] of parts.entries()) vectors.set(part, at * size)
  return vectors
}
