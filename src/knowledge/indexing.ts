import { LockMode } from "@mikro-orm/postgresql"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { Knowledge } from "../entities/knowledge.js"
import { entityLimits } from "../entities/limits.js"
import { Media } from "../entities/media.js"
import { keepLease, type Lease } from "../jobs/kit/lease.js"
import { CrawlFailure } from "../ports/crawler.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import { type Content, IndexingFailure, readItem } from "./content.js"
import { type Chunk, chunksOf, keepVectors, missingVectors, swapIndex, VectorLost } from "./index-store.js"
import { knowledgeLimits } from "./limits.js"

/** An indexing that this worker has taken, and the item as it was then. */
export interface Indexing {
  /** The fence: who holds another run may store nothing. */
  run: string
  item: Knowledge
  /** The file that it is made from. */
  media: Media | null
}

/** What is due, one item of each company before a second of any: nobody's thousand pages hold up another's one. */
const dueItems: Statement<RowOf<"Knowledge", "id" | "company_id">> = {
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
    const free = knowledgeLimits.indexingConcurrency - services.indexing.busy
    if (free <= 0) return
    const due = await unscoped(services.database, dueItems, [clock.now(), free])
    const begun = await Promise.all(due.map((row) => indexItem(services, row.company_id, row.id)))
    if (!begun.includes(true)) return
  }
}

/** Begins to index an item, if it is due and there is a place for it; its place goes to what is due next. Answers whether it did. */
export async function indexItem(services: Services, companyId: string, id: string): Promise<boolean> {
  const { indexing } = services
  if (indexing.busy >= knowledgeLimits.indexingConcurrency) return false
  indexing.busy += 1
  const context = systemContext(services, companyId, services.log.child({ knowledgeId: id }))
  const taken = await claim(context, id).catch((error) => {
    indexing.busy -= 1
    throw error
  })
  if (!taken) {
    indexing.busy -= 1
    return false
  }
  const work = perform(context, taken).finally(() => {
    indexing.busy -= 1
    services.running.add(indexDue(services))
  })
  services.running.add(work)
  return true
}

/** Takes the indexing of an item under a lease; null when it is not due, or when another worker has it. */
function claim(context: RequestContext, id: string): Promise<Indexing | null> {
  return context.transaction(async ({ em }) => {
    const now = clock.now()
    const item = await em.findOne(Knowledge, { id }, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE })
    const run = item?.isIndexingDue(now) ? item.takeIndexing(now) : null
    if (!item || !run) return null
    return { run, item, media: item.fileId ? await em.findOneOrFail(Media, { id: item.fileId }) : null }
  })
}

async function perform(context: RequestContext, indexing: Indexing): Promise<void> {
  const { stopping } = context.services
  const lease = holdLease(context, indexing)
  try {
    await index(context, indexing, lease.signal)
  } catch (error) {
    if (stopping.aborted) await settle(context, indexing, (item) => item.releaseIndexing(clock.now()))
    else if (!lease.signal.aborted) await fail(context, indexing, error)
  } finally {
    lease.end()
  }
}

const renew = {
  name: "renew-indexing-lease",
  text: "update knowledge set index_lease_until = $1 where id = $2 and company_id = any($3::uuid[]) and index_run = $4 returning id",
}

/** Gives a sign of life while an item is indexed; one that was changed, deleted or taken away meanwhile aborts it. */
const holdLease = (context: RequestContext, { item, run }: Indexing): Lease => {
  const terms = { leaseMs: entityLimits.indexingLeaseMs, renewMs: knowledgeLimits.indexingRenewMs, stopping: context.services.stopping }
  return keepLease(context, terms, async (until) => (await context.statement(renew, [until, item.id, context.companyIds, run])).length > 0)
}

/** Reads, splits and embeds, all outside of transactions, and swaps the index in one. */
async function index(context: RequestContext, indexing: Indexing, signal: AbortSignal): Promise<void> {
  const { embedding, extractor } = context.services
  const { item } = indexing
  const read = await readItem(context.services, indexing, signal)
  if (!read.isChanged && item.indexStatus === "indexed" && item.embeddingModel === embedding.id) {
    await settle(context, indexing, (current) => current.unchanged())
    return
  }
  const texts = await extractor.split(read.text, { size: item.chunkSize, overlap: item.chunkOverlap }, signal)
  if (texts.length === 0) throw new IndexingFailure("There is no text to search in")
  if (texts.length > knowledgeLimits.knowledgeChunks)
    throw new IndexingFailure(
      `It makes ${texts.length} chunks, more than ${knowledgeLimits.knowledgeChunks}: choose a larger chunkSize, or split it`,
    )
  const chunks = chunksOf(texts)
  while (!(await isMade(context, indexing, { read, chunks, model: embedding.id }, signal))) {
    // Once more: what was to be taken over of another item went with it.
  }
}

interface Wanted {
  read: Content
  chunks: Chunk[]
  model: string
}

/** Makes what vectors are missing and swaps the index; false when one that was there is missing in the end. */
async function isMade(context: RequestContext, indexing: Indexing, { read, chunks, model }: Wanted, signal: AbortSignal): Promise<boolean> {
  const missing = await missingVectors(context, model, chunks)
  for (let at = 0; at < missing.length; at += knowledgeLimits.indexingBatch) {
    const batch = missing.slice(at, at + knowledgeLimits.indexingBatch)
    const vectors = await context.services.embedding.embed(
      batch.map((chunk) => chunk.content),
      signal,
    )
    // Nobody wants it any more.
    if (!(await keepVectors(context, indexing, model, batch, vectors))) return true
  }
  try {
    await settle(context, indexing, async (item, unit) => {
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
  context: RequestContext,
  { item, run }: Indexing,
  write: (item: Knowledge, unit: UnitOfWork) => T | Promise<T>,
): Promise<T | null> {
  return context.transaction(async (tx) => {
    const current = await tx.unit.em.findOne(Knowledge, { id: item.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    return current?.holdsIndexing(run) ? write(current, tx.unit) : null
  })
}

/** Says why it failed; what may pass is tried again a little later. */
async function fail(context: RequestContext, indexing: Indexing, error: unknown): Promise<void> {
  const { log } = context.request
  const fault = faultOf(error)
  if (fault) log.info({ reason: fault.reason }, "a knowledge item was not indexed")
  else log.error({ err: error }, "indexing failed")
  const { reason, tries } = fault ?? { reason: "Something went wrong on our side", tries: knowledgeLimits.indexingTries }
  await settle(context, indexing, (item) => item.retryIndexing(clock.now(), reason, tries))
}

/** What an error means for the item: why, and how often it is tried at most; null for a fault of ours. */
function faultOf(error: unknown): { reason: string; tries: number } | null {
  if (error instanceof CrawlFailure) return { reason: error.message, tries: error.isWorthRetrying ? knowledgeLimits.crawlTries : 1 }
  if (error instanceof IndexingFailure || error instanceof EmbeddingFailure)
    return { reason: error.message, tries: error.isWorthRetrying ? knowledgeLimits.indexingTries : 1 }
  return null
}
