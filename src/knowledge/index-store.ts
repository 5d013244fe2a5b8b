import { createHash } from "node:crypto"
import { v7 } from "uuid"
import type { RequestContext } from "../context/request-context.js"
import type { RowOf } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Knowledge } from "../entities/knowledge.js"
import type { Media } from "../entities/media.js"
import { fullText } from "./full-text.js"

/** A run that this worker has claimed, and the item at that time. */
export interface Indexing {
  /** ID of the run, its fencing token. */
  run: string
  item: Knowledge
  /** The file with the content of the item. */
  media: Media | null
}

/** A chunk of an index that is being built. */
export interface Chunk {
  position: number
  content: string
  /** SHA-256 of its content, the key of its vector. */
  hash: string
}

export const hashedChunks = (texts: string[]): Chunk[] =>
  texts.map((content, position) => ({ position, content, hash: createHash("sha256").update(content).digest("hex") }))

const knownVectors: Statement<{ hash: string }> = {
  name: "known-vectors",
  text: `select distinct content_hash as hash from knowledge_chunk
         where company_id = any($1::uuid[]) and content_hash = any($2) and embedding_model = $3`,
}

/** The chunks whose vectors are not stored, each text once; vectors of earlier indexes, lost runs and other items are reused. */
export async function missingVectors(context: RequestContext, model: string, chunks: Chunk[]): Promise<Chunk[]> {
  const byHash = new Map(chunks.map((chunk) => [chunk.hash, chunk]))
  const rows = await context.statement(knownVectors, [context.companyIds, [...byHash.keys()], model])
  for (const row of rows) byHash.delete(row.hash)
  return [...byHash.values()]
}

const putBy = {
  name: "put-chunks-by",
  text: `
    with held as (
      select id, company_id, assistant_id from knowledge
      where id = $1 and company_id = any($2::uuid[]) and index_run = $3 for no key update
    )
    insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, tsv, embedding, embedding_model)
    select new.id, held.company_id, held.id, held.assistant_id, $3, new.position, new.content, new.hash, new.words::tsvector, new.vector::real[], $4
    from held, unnest($5::uuid[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[]) as new (id, position, content, hash, words, vector)
    on conflict do nothing
    returning id`,
}

/** A `real` has at most nine significant digits. */
const literal = (vector: Float32Array) => `{${Array.from(vector, (value) => value.toPrecision(9)).join(",")}}`

/** Stores embedded chunks, so that a crash loses at most a batch; returns false when the run lost its lease. They are not searched yet. */
export async function storeChunks(
  context: RequestContext,
  { item, run }: Indexing,
  model: string,
  chunks: Chunk[],
  vectors: Float32Array[],
) {
  const rows = await context.statement(putBy, [
    item.id,
    context.companyIds,
    run,
    model,
    chunks.map(() => v7()),
    chunks.map(({ position }) => position),
    chunks.map(({ content }) => content),
    chunks.map(({ hash }) => hash),
    chunks.map(({ content }) => fullText(content, item.assistantId)),
    vectors.map(literal),
  ])
  return rows.length > 0
}

/** Chunks of this item with the same content move to the new generation and keep their ids, so that quoted sources stay valid. */
const moveOver = {
  name: "move-chunks-over",
  text: `
    with wanted as (
      select new.position, new.hash, row_number() over (partition by new.hash order by new.position) as turn
      from unnest($3::integer[], $4::text[]) as new (position, hash)
      where not exists (select 1 from knowledge_chunk c where c.knowledge_id = $1 and c.generation = $2 and c.position = new.position)
    ), former as (
      select c.id, c.content_hash as hash,
        row_number() over (partition by c.content_hash order by c.generation is not distinct from $5 desc, c.position, c.id) as turn
      from knowledge_chunk c
      where c.knowledge_id = $1 and c.company_id = any($7::uuid[]) and c.generation <> $2 and c.embedding_model = $6
    )
    update knowledge_chunk c set generation = $2, position = wanted.position
    from wanted join former using (hash, turn) where c.id = former.id`,
}

/** The remaining chunks are inserted, with the vector of any chunk of the company with the same content. */
const reuseVectors = {
  name: "take-vectors-over",
  text: `
    insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, tsv, embedding, embedding_model)
    select new.id, k.company_id, k.id, k.assistant_id, $2, new.position, new.content, new.hash, new.words::tsvector, known.embedding, $3
    from knowledge k, unnest($5::uuid[], $6::integer[], $7::text[], $8::text[], $9::text[]) as new (id, position, content, hash, words)
    cross join lateral (
      select embedding from knowledge_chunk c
      where c.company_id = any($4::uuid[]) and c.content_hash = new.hash and c.embedding_model = $3 limit 1
    ) known
    where k.id = $1 and k.company_id = any($4::uuid[])
    returning id`,
}

const dropOthers = {
  name: "drop-former-chunks",
  text: "delete from knowledge_chunk where knowledge_id = $1 and company_id = any($2::uuid[]) and generation <> $3",
}

const madeSoFar: Statement<RowOf<"KnowledgeChunk", "position">> = {
  name: "chunks-made-so-far",
  text: "select position from knowledge_chunk where knowledge_id = $1 and company_id = any($2::uuid[]) and generation = $3",
}

/** Thrown when a vector to reuse was deleted meanwhile: the transaction is aborted, and the vector is computed. */
export class VectorLost extends Error {}

/** Replaces an item's chunks by those of a run, inside a transaction that has locked the item. */
export async function swapIndex(unit: UnitOfWork, { item, run }: Indexing, model: string, chunks: Chunk[]): Promise<void> {
  const { companyIds } = unit.scope
  const positions = chunks.map(({ position }) => position)
  const hashes = chunks.map(({ hash }) => hash)
  await unit.run(moveOver, [item.id, run, positions, hashes, item.indexGeneration, model, companyIds])
  const made = new Set((await unit.run(madeSoFar, [item.id, companyIds, run])).map((row) => row.position))
  const rest = chunks.filter(({ position }) => !made.has(position))
  const taken = await unit.run(reuseVectors, [
    item.id,
    run,
    model,
    companyIds,
    rest.map(() => v7()),
    rest.map(({ position }) => position),
    rest.map(({ content }) => content),
    rest.map(({ hash }) => hash),
    rest.map(({ content }) => fullText(content, item.assistantId)),
  ])
  if (taken.length < rest.length) throw new VectorLost()
  await unit.run(dropOthers, [item.id, companyIds, run])
}
