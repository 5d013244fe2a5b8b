import { LockMode } from "@mikro-orm/postgresql"
import { systemViewer, type Viewer } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Unit } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { Knowledge } from "../entities/knowledge.js"
import { Media } from "../entities/media.js"
import { keepLease, type Lease } from "../jobs/kit/lease.js"
import { limits } from "../limits.js"
import { CrawlFailure } from "../ports/crawler.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import { type Content, IndexingFailure, readItem } from "./content.js"
import { type Chunk, chunksOf, keepVectors, missingVectors, swapIndex, VectorLost } from "./index-store.js"

/** An indexing that this worker has taken, and the item as it was then. */
export interface Indexing {
  /** The fence: who holds another run may store nothing. */
  run: string
  item: Knowledge
  /** The file that it is made from. */
  media: Media | null
}

/** What is due, one item of each company before a second of any: nobody's thousand pages hold up another's one. */
const dueItems = {
  name: "due-knowledge",
  text: `
    select id, company_id from (
      select id, company_id, coalesce(index_due_at, index_lease_until) as since,
        row_number() over (partition by company_id order by coalesce(index_due_at, index_lease_until)) as turn
      from knowledge where (index_due_at <= $1 and index_run is null) or index_lease_until <= $1
    ) due order by turn, since limit $2`,
}

const staleModel = {
  name: "stale-embedding-model",
  text: `update knowledge set index_due_at = $1
         where index_status = 'indexed' and embedding_model <> $2 and index_due_at is null and index_run is null`,
}

/** Another embedding was configured: what was indexed by the former one is indexed anew, and until then found by its words alone. */
export async function renewForEmbedding({ database, embedding }: Services): Promise<void> {
  await unscoped(database, staleModel, [clock.now(), embedding.id])
}

/** Indexes whatever is due, as long as this process has a place for one more. */
export async function indexDue(services: Services): Promise<void> {
  while (!services.stopping.aborted) {
    const free = limits.indexingConcurrency - services.indexing.busy
    if (free <= 0) return
    const due = await unscoped(services.database, dueItems, [clock.now(), free])
    const begun = await Promise.all(due.map((row) => indexItem(services, row["company_id"], row["id"])))
    if (!begun.includes(true)) return
  }
}

/** Begins to index an item, if it is due and there is a place for it; its place goes to what is due next. Answers whether it did. */
export async function indexItem(services: Services, companyId: string, id: string): Promise<boolean> {
  const { indexing } = services
  if (indexing.busy >= limits.indexingConcurrency) return false
  indexing.busy += 1
  const viewer = systemViewer(services, companyId, services.log.child({ knowledgeId: id }))
  const taken = await claim(viewer, id).catch((error) => {
    indexing.busy -= 1
    throw error
  })
  if (!taken) {
    indexing.busy -= 1
    return false
  }
  const work = perform(viewer, taken).finally(() => {
    indexing.busy -= 1
    services.running.add(indexDue(services))
  })
  services.running.add(work)
  return true
}

/** Takes the indexing of an item under a lease; null when it is not due, or when another worker has it. */
function claim(viewer: Viewer, id: string): Promise<Indexing | null> {
  return viewer.change(async ({ em }) => {
    const now = clock.now()
    const item = await em.findOne(Knowledge, { id }, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE })
    const run = item?.isIndexingDue(now) ? item.takeIndexing(now) : null
    if (!item || !run) return null
    return { run, item, media: item.fileId ? await em.findOneOrFail(Media, { id: item.fileId }) : null }
  })
}

async function perform(viewer: Viewer, indexing: Indexing): Promise<void> {
  const { stopping } = viewer.services
  const lease = holdLease(viewer, indexing)
  try {
    await index(viewer, indexing, lease.signal)
  } catch (error) {
    if (stopping.aborted) await settle(viewer, indexing, (item) => item.releaseIndexing(clock.now()))
    else if (!lease.signal.aborted) await fail(viewer, indexing, error)
  } finally {
    lease.end()
  }
}

const renew = {
  name: "renew-indexing-lease",
  text: "update knowledge set index_lease_until = $1 where id = $2 and company_id = any($3::uuid[]) and index_run = $4 returning id",
}

/** Gives a sign of life while an item is indexed; one that was changed, deleted or taken away meanwhile aborts it. */
const holdLease = (viewer: Viewer, { item, run }: Indexing): Lease => {
  const terms = { leaseMs: limits.indexingLeaseMs, renewMs: limits.indexingRenewMs, stopping: viewer.services.stopping }
  return keepLease(viewer, terms, async (until) => (await viewer.statement(renew, [until, item.id, viewer.companyIds, run])).length > 0)
}

/** Reads, splits and embeds, all outside of transactions, and swaps the index in one. */
async function index(viewer: Viewer, indexing: Indexing, signal: AbortSignal): Promise<void> {
  const { embedding, extractor } = viewer.services
  const { item } = indexing
  const read = await readItem(viewer.services, indexing, signal)
  if (!read.isChanged && item.indexStatus === "indexed" && item.embeddingModel === embedding.id) {
    await settle(viewer, indexing, (current) => current.unchanged())
    return
  }
  const texts = await extractor.split(read.text, { size: item.chunkSize, overlap: item.chunkOverlap }, signal)
  if (texts.length === 0) throw new IndexingFailure("There is no text to search in")
  if (texts.length > limits.knowledgeChunks)
    throw new IndexingFailure(
      `It makes ${texts.length} chunks, more than ${limits.knowledgeChunks}: choose a larger chunkSize, or split it`,
    )
  const chunks = chunksOf(texts)
  while (!(await isMade(viewer, indexing, { read, chunks, model: embedding.id }, signal))) {
    // Once more: what was to be taken over of another item went with it.
  }
}

interface Wanted {
  read: Content
  chunks: Chunk[]
  model: string
}

/** Makes what vectors are missing and swaps the index; false when one that was there is missing in the end. */
async function isMade(viewer: Viewer, indexing: Indexing, { read, chunks, model }: Wanted, signal: AbortSignal): Promise<boolean> {
  const missing = await missingVectors(viewer, model, chunks)
  for (let at = 0; at < missing.length; at += limits.indexingBatch) {
    const batch = missing.slice(at, at + limits.indexingBatch)
    const vectors = await viewer.services.embedding.embed(
      batch.map((chunk) => chunk.content),
      signal,
    )
    // Nobody wants it any more.
    if (!(await keepVectors(viewer, indexing, model, batch, vectors))) return true
  }
  try {
    await settle(viewer, indexing, async (item, unit) => {
      await swapIndex(unit, indexing, model, chunks)
      if (read.version) item.isOfVersion(read.version)
      if (item.kind !== "text") item.reads(read.text)
      item.indexed({ chunkCount: chunks.length, embeddingModel: model })
    })
    return true
  } catch (error) {
    if (error instanceof VectorLost) return false
    throw error
  }
}

/** Writes to the item behind the fence: who changed or deleted it meanwhile wins, and nothing is written. */
async function settle<T>(
  viewer: Viewer,
  { item, run }: Indexing,
  write: (item: Knowledge, unit: Unit) => T | Promise<T>,
): Promise<T | null> {
  return viewer.change(async (_within, unit) => {
    const current = await unit.em.findOne(Knowledge, { id: item.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    return current?.holdsIndexing(run) ? write(current, unit) : null
  })
}

/** Says why it failed; what may pass is tried again a little later. */
async function fail(viewer: Viewer, indexing: Indexing, error: unknown): Promise<void> {
  const { log } = viewer.request
  const fault = faultOf(error)
  if (fault) log.info({ reason: fault.reason }, "a knowledge item was not indexed")
  else log.error({ err: error }, "indexing failed")
  const { reason, tries } = fault ?? { reason: "Something went wrong on our side", tries: limits.indexingTries }
  await settle(viewer, indexing, (item) => item.retryIndexing(clock.now(), reason, tries))
}

/** What an error means for the item: why, and how often it is tried at most; null for a fault of ours. */
function faultOf(error: unknown): { reason: string; tries: number } | null {
  if (error instanceof CrawlFailure) return { reason: error.message, tries: error.isWorthRetrying ? limits.crawlTries : 1 }
  if (error instanceof IndexingFailure || error instanceof EmbeddingFailure)
    return { reason: error.message, tries: error.isWorthRetrying ? limits.indexingTries : 1 }
  return null
}
