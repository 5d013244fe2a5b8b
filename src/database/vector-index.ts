import { type RawBuilder, sql } from "kysely"
import { Client } from "pg"
import type { Logger } from "pino"
import type { Database } from "./connect.js"

/** Starts indexing the vectors of a length unless they are indexed; returns at once, since it may take hours. */
export type IndexVectors = (dimensions: number) => void

/** Runs a statement and returns its rows. */
export type Ask = <R>(text: string) => Promise<R[]>

/** The first minor version of pgvector 0 with iterative scans: the index holds the vectors of all companies, so a scan may have to continue. */
const OLDEST = 8

/** Advisory lock of the process that creates the index; any number, the same in every version. */
const indexLock = 7_304_213

/** Returns how vectors are indexed; null where the database has no pgvector, or an old one. */
export async function vectorExtension({ pool, url }: Database, log: Logger): Promise<IndexVectors | null> {
  if (!(await hasVectors(async (text) => (await pool.query(text)).rows))) return null
  return (dimensions) => {
    // Not on the pool: creating the index occupies the connection all the time.
    const client = new Client({ connectionString: url })
    // A lost connection also rejects the running statement, which is logged below.
    client.on("error", () => {})
    const made = client.connect().then(() => makeVectorIndex(async (text) => (await client.query(text)).rows, dimensions))
    made
      .finally(() => client.end())
      .then((isMade) => isMade && log.info({ dimensions }, "the vectors of knowledge are indexed"))
      .catch((error) => log.error({ err: error, dimensions }, "the vectors of knowledge could not be indexed: searches read them all"))
  }
}

/** Whether pgvector is installed; installs it where the server has it and permits it. */
export async function hasVectors(ask: Ask): Promise<boolean> {
  const look = "select installed_version as installed, default_version as version from pg_available_extensions where name = 'vector'"
  const [found] = await ask<{ installed: string | null; version: string }>(look)
  const [major, minor] = String(found?.installed ?? found?.version ?? "0.0")
    .split(".")
    .map(Number)
  if (major === 0 && minor! < OLDEST) return false
  if (found?.installed) return true
  return ask("create extension if not exists vector").then(
    () => true,
    // The permission is missing, or another instance has just installed it.
    async (error: unknown) => {
      const [after] = await ask<{ installed: string | null }>(look)
      if (after?.installed || (error as { code?: string }).code === "42501") return Boolean(after?.installed)
      throw error
    },
  )
}

/** Creates the index for vectors of a length concurrently; returns whether it was missing. */
export async function makeVectorIndex(ask: Ask, dimensions: number): Promise<boolean> {
  // Only tried: a transaction that waits for the lock would block the concurrent creation of the index.
  const [lock] = await ask<{ isMine: boolean }>(`select pg_try_advisory_lock(${indexLock}) as "isMine"`)
  if (!lock?.isMine) return false
  const name = `knowledge_chunk_vector_${dimensions}`
  const [index] = await ask<{ isValid: boolean }>(`select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('${name}')`)
  if (index?.isValid) return false
  // A crash left an invalid index behind.
  if (index) await ask(`drop index concurrently ${name}`)
  await ask(
    `create index concurrently ${name} on knowledge_chunk using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops)
     where cardinality(embedding) = ${dimensions}`,
  )
  return true
}

/** SQL that the index answers: which vectors are comparable with one, and their distance to it. */
export function distance(vector: Float32Array): { isComparable: RawBuilder<boolean>; between: RawBuilder<number> } {
  const dimensions = sql.raw(String(vector.length))
  return {
    isComparable: sql`cardinality(t.embedding) = ${dimensions}`,
    between: sql`(t.embedding::vector(${dimensions})) <=> ${`[${vector.join(",")}]`}::vector(${dimensions})`,
  }
}
