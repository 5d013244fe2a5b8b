import { type RawBuilder, sql } from "kysely"
import { Client } from "pg"
import type { Logger } from "pino"
import type { Database } from "./connect.js"

/** Starts to index the vectors of a length, unless they are indexed; returns at once, because it may take hours. */
export type IndexVectors = (dimensions: number) => void

/** Runs a statement and returns its rows. */
export type RunSql = <R>(text: string) => Promise<R[]>

/** The first minor version of pgvector 0 with iterative scans, which are needed because one index contains the vectors of all companies. */
const MIN_PGVECTOR_MINOR = 8

/** Advisory lock of the process that creates the index; any number, the same in every version. */
const indexLock = 7_304_213

/** Returns the function that indexes vectors; null when pgvector is missing or too old. */
export async function vectorExtension({ pool, url }: Database, log: Logger): Promise<IndexVectors | null> {
  if (!(await hasVectors(async (text) => (await pool.query(text)).rows))) return null
  return (dimensions) => {
    // A separate connection, because the creation of the index occupies it for long.
    const client = new Client({ connectionString: url })
    // A lost connection also rejects the running statement, which is logged below.
    client.on("error", () => {})
    const creation = client.connect().then(() => makeVectorIndex(async (text) => (await client.query(text)).rows, dimensions))
    creation
      .finally(() => client.end())
      .then((isNew) => isNew && log.info({ dimensions }, "the vector index of knowledge was created"))
      .catch((error) =>
        log.error({ err: error, dimensions }, "the vector index of knowledge could not be created: searches read all vectors"),
      )
  }
}

/** Whether pgvector is installed; installs it where the server provides it and permits that. */
export async function hasVectors(runSql: RunSql): Promise<boolean> {
  const extensionQuery =
    "select installed_version as installed, default_version as version from pg_available_extensions where name = 'vector'"
  const [found] = await runSql<{ installed: string | null; version: string }>(extensionQuery)
  const [major, minor] = String(found?.installed ?? found?.version ?? "0.0")
    .split(".")
    .map(Number)
  if (major === 0 && minor! < MIN_PGVECTOR_MINOR) return false
  if (found?.installed) return true
  return runSql("create extension if not exists vector").then(
    () => true,
    // The permission is missing, or another instance has just installed it.
    async (error: unknown) => {
      const [after] = await runSql<{ installed: string | null }>(extensionQuery)
      if (after?.installed || (error as { code?: string }).code === "42501") return Boolean(after?.installed)
      throw error
    },
  )
}

/** Creates the index for vectors of a length concurrently; returns whether it created one. */
export async function makeVectorIndex(runSql: RunSql, dimensions: number): Promise<boolean> {
  // Does not wait for the lock: a waiting transaction would block the concurrent creation of the index.
  const [lock] = await runSql<{ isMine: boolean }>(`select pg_try_advisory_lock(${indexLock}) as "isMine"`)
  if (!lock?.isMine) return false
  const name = `knowledge_chunk_vector_${dimensions}`
  const [index] = await runSql<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('${name}')`,
  )
  if (index?.isValid) return false
  // A crash left an invalid index behind.
  if (index) await runSql(`drop index concurrently ${name}`)
  await runSql(
    `create index concurrently ${name} on knowledge_chunk using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops)
     where cardinality(embedding) = ${dimensions}`,
  )
  return true
}

/** SQL that uses the index: which vectors can be compared with the given one, and their distance. */
export function distance(vector: Float32Array): { isComparable: RawBuilder<boolean>; between: RawBuilder<number> } {
  const dimensions = sql.raw(String(vector.length))
  return {
    isComparable: sql`cardinality(t.embedding) = ${dimensions}`,
    between: sql`(t.embedding::vector(${dimensions})) <=> ${`[${vector.join(",")}]`}::vector(${dimensions})`,
  }
}
