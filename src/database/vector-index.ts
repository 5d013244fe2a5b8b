import { type RawBuilder, sql } from "kysely"
import { Client } from "pg"
import type { Logger } from "pino"
import type { Database } from "./connect.js"

/** Has the vectors of a length indexed, unless they are; returns at once, since it may take hours. */
export type IndexVectors = (dimensions: number) => void

/** Asks the database something; answers the rows. */
// biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
export type Ask = (text: string) => Promise<any[]>

/** The first minor version of pgvector 0 whose scans go on until they have found enough: its index holds the vectors of all companies. */
const OLDEST = 8

/** Any number, the same in every version: who holds this advisory lock makes the index. */
const indexLock = 7_304_213

/** How vectors are indexed, where the database has pgvector; null where it has not, or an old one. */
export async function vectorExtension({ pool, url }: Database, log: Logger): Promise<IndexVectors | null> {
  if (!(await hasVectors(async (text) => (await pool.query(text)).rows))) return null
  return (dimensions) => {
    // On a connection of its own: it is busy for as long as it takes.
    const client = new Client({ connectionString: url })
    // A lost connection also fails what it was asked.
    client.on("error", () => {})
    const made = client.connect().then(() => makeVectorIndex(async (text) => (await client.query(text)).rows, dimensions))
    made
      .finally(() => client.end())
      .then((isMade) => isMade && log.info({ dimensions }, "the vectors of knowledge are indexed"))
      .catch((error) => log.error({ err: error, dimensions }, "the vectors of knowledge could not be indexed: searches read them all"))
  }
}

/** Whether pgvector is in the database; where the server has it and lets us, it is put there. */
export async function hasVectors(ask: Ask): Promise<boolean> {
  const look = "select installed_version as installed, default_version as version from pg_available_extensions where name = 'vector'"
  const [found] = await ask(look)
  const [major, minor] = String(found?.installed ?? found?.version ?? "0.0")
    .split(".")
    .map(Number)
  if (major === 0 && minor! < OLDEST) return false
  if (found.installed) return true
  return ask("create extension if not exists vector").then(
    () => true,
    // Not ours to do, or another instance has just done it.
    async (error: unknown) => {
      const [after] = await ask(look)
      if (after.installed || (error as { code?: string }).code === "42501") return Boolean(after.installed)
      throw error
    },
  )
}

/** Makes the index for vectors of a length, beside everything else that goes on; answers whether it had to. */
export async function makeVectorIndex(ask: Ask, dimensions: number): Promise<boolean> {
  // Not waited for: who waits would be waited for by the one that makes the index.
  const [{ isMine }] = await ask(`select pg_try_advisory_lock(${indexLock}) as "isMine"`)
  if (!isMine) return false
  const name = `knowledge_chunk_vector_${dimensions}`
  const [index] = await ask(`select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('${name}')`)
  if (index?.isValid) return false
  // A crash left it behind unfinished.
  if (index) await ask(`drop index concurrently ${name}`)
  await ask(
    `create index concurrently ${name} on knowledge_chunk using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops)
     where cardinality(embedding) = ${dimensions}`,
  )
  return true
}

/** What a query on chunks says to be answered from that index: which vectors can be compared, and how far each is from one. */
export function distance(vector: Float32Array): { isComparable: RawBuilder<boolean>; between: RawBuilder<number> } {
  const dimensions = sql.raw(String(vector.length))
  return {
    isComparable: sql`cardinality(t.embedding) = ${dimensions}`,
    between: sql`(t.embedding::vector(${dimensions})) <=> ${`[${vector.join(",")}]`}::vector(${dimensions})`,
  }
}
