import { readdirSync, readFileSync } from "node:fs"
import { PGlite } from "@electric-sql/pglite"
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm"
import { vector } from "@electric-sql/pglite-pgvector"
import { Migration } from "@mikro-orm/migrations"
import { MikroORM } from "@mikro-orm/postgresql"
import { Kysely, PostgresDialect } from "kysely"
import { v7 } from "uuid"
import type { RequestContext } from "../../src/context/request-context.js"
import { ormOptions } from "../../src/database/options.js"
import { Reader } from "../../src/database/reader.js"
import type { Tables } from "../../src/database/tables.js"
import { hasVectors, makeVectorIndex, type RunSql } from "../../src/database/vector-index.js"
import { fullText } from "../../src/knowledge/full-text.js"
import { type IndexedItem, indexedItems } from "../../src/knowledge/indexed-items.js"
import { PackedVectors } from "../../src/knowledge/packed-vectors.js"
import type { Near } from "../../src/knowledge/similarity.js"
import { closest, StoredVectors } from "../../src/knowledge/stored-vectors.js"
import { offlineEmbedding } from "../../src/ports/embedding/offline.js"

/** PostgreSQL with pgvector, both as WebAssembly, so that the test needs no installation. */
const postgres = await PGlite.create({ extensions: { vector, pg_trgm } })
const orm = await MikroORM.init(ormOptions("postgres://nobody@localhost/nowhere"))
afterAll(async () => {
  await orm.close()
  await postgres.close()
})

const ask: RunSql = async <R>(text: string) => (await postgres.query<R>(text)).rows
const run = (text: string, values: unknown[] = []) => postgres.query(text, values)
const client = {
  query: async (text: string, values: readonly unknown[]) => {
    const { rows, affectedRows } = await postgres.query(text, [...values])
    return { command: "SELECT", rows, rowCount: affectedRows ?? rows.length }
  },
  release() {},
}
const kysely = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool: { connect: async () => client as never, end: async () => {}, options: {} } }),
})

const embedding = offlineEmbedding()
const embed = (texts: string[]) => embedding.embed(texts, new AbortController().signal)
const folder = "test/fixtures/retrieval/"
const fixture = (name: string) => readFileSync(folder + name, "utf8")
const chapters = readdirSync(folder).filter((name) => name.endsWith(".md"))
const questions: string[] = JSON.parse(fixture("questions.json")).map(({ ask }: { ask: string }) => ask)

/** An assistant of a new company with some chapters, one item per paragraph. */
async function assistantThatKnows(names: string[]) {
  const [companyId, assistantId] = [v7(), v7()]
  await run("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Tarnfell')", [companyId])
  await run(
    `insert into assistant (id, created_at, updated_at, company_id, name, prompt, language, text_model_id, excluded_tags)
     values ($1, now(), now(), $2, 'Helper', '', 'en', $1, '{}')`,
    [assistantId, companyId],
  )
  for (const name of names) {
    const [id, generation] = [v7(), v7()]
    const texts = fixture(name).split(/\n\n/)
    await run(
      `insert into knowledge (id, created_at, updated_at, company_id, assistant_id, name, kind, is_vector, chunk_count, index_status, index_generation, embedding_model)
       values ($1, now(), now(), $2, $3, $4, 'text', true, $5, 'indexed', $6, $7)`,
      [id, companyId, assistantId, name, texts.length, generation, embedding.id],
    )
    for (const [position, vector] of (await embed(texts)).entries()) {
      await run(
        `insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, embedding, embedding_model, tsv)
         values ($1, $2, $3, $4, $5, $6, $7, '', $8::text::real[], $9, $10::text::tsvector)`,
        [
          v7(),
          companyId,
          id,
          assistantId,
          generation,
          position,
          texts[position],
          `{${vector.join(",")}}`,
          embedding.id,
          fullText(texts[position]!, assistantId),
        ],
      )
    }
  }
  const reader = new Reader(orm, kysely, [companyId], { send: async ({ text }, values) => (await client.query(text, values)).rows })
  // The parts of a request context that a search uses: planned reads, and a transaction with planned reads in it.
  const context = {
    reader,
    transaction: async (work: (tx: unknown) => Promise<unknown>) => {
      await run("begin")
      const result = await work({ reader, run: ({ text }: { text: string }) => ask(text) })
      await run("commit")
      return result
    },
  } as unknown as RequestContext
  return { assistantId, context, items: await indexedItems(reader, assistantId, embedding.id) }
}

type Assistant = Awaited<ReturnType<typeof assistantThatKnows>>

describe("search by pgvector", () => {
  let large: Assistant
  let small: Assistant
  beforeAll(async () => {
    expect(await hasVectors(ask)).toBe(true)
    for (const file of readdirSync("migrations")
      .filter((name) => name.endsWith(".ts"))
      .sort()) {
      const made = Object.values(await import(`../../migrations/${file.replace(/\.ts$/, ".js")}`))[0] as new (
        ...args: unknown[]
      ) => Migration
      const migration = new made(orm.em.getDriver(), orm.config)
      await migration.up()
      for (const query of migration.getQueries()) await postgres.exec(String(query))
    }
    large = await assistantThatKnows(chapters.slice(0, 12))
    small = await assistantThatKnows(chapters.slice(12))
    // Vectors of another model and another length are not compared, and do not disturb.
    await run("update knowledge_chunk set embedding = '{1, 0, 0}', embedding_model = 'other' where position = 0")
  })

  const exact = new PackedVectors()
  const sameAsExact = async ({ assistantId, context, items }: Assistant, nearest: (vector: Float32Array) => Promise<Near[]>) => {
    let same = 0
    for (const vector of await embed(questions)) {
      const [one, other] = [await exact.nearest(context, assistantId, items, vector), await nearest(vector)]
      const [ids, others] = [one, other].map((found) => found.slice(0, 5).map(({ id }) => id))
      if (JSON.stringify(ids) === JSON.stringify(others)) same += 1
      expect(other[0]!.similarity).toBeCloseTo(one[0]!.similarity, 4)
    }
    return same / questions.length
  }

  it("finds what the exact search in the process finds, in the same order, before there is an index", async () => {
    const asked: number[] = []
    const stored = new StoredVectors((dimensions) => asked.push(dimensions), exact)
    for (const one of [large, small])
      expect(await sameAsExact(one, (vector) => stored.nearest(one.context, one.assistantId, one.items, vector))).toBe(1)
    // The index is created once.
    expect(asked).toEqual([embedding.dimensions])
  })

  it("creates the index once, and again when a crash left it unfinished", async () => {
    expect(await makeVectorIndex(ask, 512)).toBe(true)
    expect(await makeVectorIndex(ask, 512)).toBe(false)
    await run("update pg_index set indisvalid = false where indexrelid = 'knowledge_chunk_vector_512'::regclass")
    expect(await makeVectorIndex(ask, 512)).toBe(true)
    expect(await ask("select indisvalid from pg_index where indexrelid = 'knowledge_chunk_vector_512'::regclass")).toEqual([
      { indisvalid: true },
    ])
  })

  it("finds the same by the index, also for an assistant that has a small part of it", async () => {
    // The planner would prefer a sequential scan for so few rows.
    await postgres.exec("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off; set enable_indexscan = on")
    const stored = new StoredVectors(() => {}, exact)
    for (const one of [large, small]) {
      const plan = closest(one.context.reader, one.assistantId, one.items, (await embed(questions.slice(0, 1)))[0]!).compile()
      const explained = await postgres.query<Record<string, string>>(`explain ${plan.sql}`, [...plan.parameters])
      expect(explained.rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Index Scan using knowledge_chunk_vector_512")
      expect(await sameAsExact(one, (vector) => stored.nearest(one.context, one.assistantId, one.items, vector))).toBeGreaterThan(0.95)
    }
  })

  it("leaves vectors that are too long for the index to the exact search", async () => {
    const longer = new Float32Array(2_001).fill(1)
    const asked: IndexedItem[][] = []
    const stored = new StoredVectors(
      () => {
        throw new Error("no index can hold them")
      },
      {
        async nearest(_viewer, _assistantId, items) {
          asked.push(items)
          return [{ id: "exact", similarity: 1 }]
        },
      },
    )
    expect(await stored.nearest(small.context, small.assistantId, small.items, longer)).toEqual([{ id: "exact", similarity: 1 }])
    expect(asked).toEqual([small.items])
  })
})
