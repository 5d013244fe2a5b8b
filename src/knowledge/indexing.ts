import { type Lease, LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { Failure } from "../entities/kit/work-state.js"
import type { Knowledge } from "../entities/knowledge.js"
import { Media } from "../entities/media.js"
import { oncePer } from "../once-per.js"
import { CrawlFailure } from "../ports/crawler.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import { FairSlots } from "../ports/kit/fair-slots.js"
import { type Content, IndexingFailure, readItem } from "./content.js"
import { type Chunk, hashedChunks, type Indexing, missingVectors, storeChunks, swapIndex, VectorLost } from "./index-store.js"
import { knowledgeLimits } from "./limits.js"

const staleModel = {
  name: "stale-embedding-model",
  text: `update knowledge set index_due_at = $1
         where index_status = 'indexed' and embedding_model <> $2 and index_due_at is null and index_run is null`,
}

/** Schedules items that were indexed with another embedding than the configured one; until then they are searched by words only. */
export async function renewForEmbedding({ database, embedding }: Pick<Services, "database" | "embedding">): Promise<void> {
  await unscoped(database, staleModel, [clock.now(), embedding.id])
}

/** Claims an item: reads the source of its content. */
export async function beginIndexing(tx: RequestContext, item: Knowledge, run: string): Promise<Indexing> {
  return { run, item, media: item.fileId ? await tx.em.findOneOrFail(Media, { id: item.fileId }) : null }
}

/** Reads, splits and embeds the content outside of transactions, and replaces the index in one. */
export async function indexItem(lease: Lease<Knowledge>, indexing: Indexing): Promise<void> {
  const { context, signal } = lease
  const { embedding, extractor } = context.services
  const { item } = indexing
  const read = await readItem(context.services, indexing, signal)
  if (!read.isChanged && item.indexStatus === "indexed" && item.embeddingModel === embedding.id) {
    await lease.store((current) => current.unchanged())
    return
  }
  const texts = await extractor.split(item.companyId, read.text, { size: item.chunkSize, overlap: item.chunkOverlap }, signal)
  if (texts.length === 0) throw new IndexingFailure("There is no text to search in")
  if (texts.length > knowledgeLimits.knowledgeChunks)
    throw new IndexingFailure(
      `It makes ${texts.length} chunks, more than ${knowledgeLimits.knowledgeChunks}: choose a larger chunkSize, or split it`,
    )
  const chunks = hashedChunks(texts)
  while (!(await buildIndex(lease, indexing, { read, chunks, model: embedding.id }))) {
    // Retried, because the vectors to reuse were deleted with their item.
  }
}

/** Fewer than of items, because embedding and storing need the processor and a database connection. */
const batchSlots = oncePer((_services: Services) => new FairSlots(knowledgeLimits.indexingBatchSlots))

interface Wanted {
  read: Content
  chunks: Chunk[]
  model: string
}

/** Computes missing vectors and replaces the index; false when a vector to reuse was deleted meanwhile. */
async function buildIndex(lease: Lease<Knowledge>, indexing: Indexing, { read, chunks, model }: Wanted): Promise<boolean> {
  const { context, signal } = lease
  const slots = batchSlots(context.services)
  const { companyId } = indexing.item
  const missing = await missingVectors(context, model, chunks)
  for (let at = 0; at < missing.length; at += knowledgeLimits.indexingBatch) {
    const batch = missing.slice(at, at + knowledgeLimits.indexingBatch)
    const isStored = await slots.run(companyId, async () => {
      const vectors = await context.services.embedding.embed(
        batch.map((chunk) => chunk.content),
        signal,
      )
      return storeChunks(context, indexing, model, batch, vectors)
    })
    if (!isStored) throw new LeaseLost()
  }
  try {
    await slots.run(companyId, () =>
      lease.store(async (item, { unit }) => {
        await swapIndex(unit, indexing, model, chunks)
        if (read.version) item.setVersion(read.version)
        if (item.kind !== "text") item.setText(read.text)
        item.indexed({ chunkCount: chunks.length, embeddingModel: model })
      }),
    )
    return true
  } catch (error) {
    if (error instanceof VectorLost) return false
    throw error
  }
}

/** Logs why an item was not indexed, and returns how often the failure is retried. */
export function indexingFailure({ request: { log } }: RequestContext, error: unknown): Failure {
  const known = knownFailure(error)
  if (known) log.info({ reason: known.reason }, "a knowledge item was not indexed")
  else log.error({ err: error }, "indexing failed")
  return known ?? { reason: "Something went wrong on our side" }
}

/** Reason and maximum number of tries for an error; null for an unexpected error. */
function knownFailure(error: unknown): Failure | null {
  if (error instanceof CrawlFailure) return { reason: error.message, tries: error.isWorthRetrying ? knowledgeLimits.crawlTries : 1 }
  if (error instanceof IndexingFailure || error instanceof EmbeddingFailure)
    return { reason: error.message, tries: error.isWorthRetrying ? knowledgeLimits.indexingTries : 1 }
  return null
}
