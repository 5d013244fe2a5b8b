import { randomUUID } from "node:crypto"
import type pg from "pg"
import { fullText } from "../src/knowledge/full-text.js"
import { offlineEmbedding } from "../src/ports/embedding/offline.js"
import { tokenOf } from "./fresh-server.js"

/** The data of the search benchmark: one assistant's items and their chunks, and this many other companies with as many. */
export const sizes = { items: 50, chunksOfItem: 200, strangers: 4 }

/** The assistant that is searched, and the queries. */
export interface SearchedAssistant {
  token: string
  assistantId: string
  /** Some words of a chunk each, as a person would search for it. */
  queries: string[]
}

const vocabulary = 20_000
const wordsOfChunk = 150
/** The most common words are in no query. */
const commonWords = 150
const wordsOfQuery = 6
const queries = 300

/** Fills a migrated database, with the same words every time. */
export async function fillSearched(client: pg.Client): Promise<SearchedAssistant> {
  const words = new Words()
  const texts = Array.from({ length: sizes.items * sizes.chunksOfItem }, () => words.sequence(wordsOfChunk))
  const { companyId, assistantId } = await owner(client)
  const embedding = offlineEmbedding()
  for (let item = 0; item < sizes.items; item++) {
    const chunks = texts.slice(item * sizes.chunksOfItem, (item + 1) * sizes.chunksOfItem).map((each) => `${each.join(" ")}.`)
    const vectors = await embedding.embed(chunks, new AbortController().signal)
    await client.query(
      `with item as (
         insert into knowledge (id, created_at, updated_at, company_id, assistant_id, name, kind, resource_content, is_vector, chunk_count,
           index_status, index_generation, embedding_model)
         values (gen_random_uuid(), now(), now(), $1, $2, 'Item ' || $3::int, 'text', '', true, $4, 'indexed', gen_random_uuid(), $5) returning *
       )
       insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, embedding,
         embedding_model, tsv)
       select gen_random_uuid(), $1, item.id, $2, item.index_generation, place - 1, content, md5(content), vector::real[], $5, words::tsvector
       from item, unnest($6::text[], $7::text[], $8::text[]) with ordinality chunk (content, vector, words, place)`,
      [
        companyId,
        assistantId,
        item,
        chunks.length,
        embedding.id,
        chunks,
        vectors.map((vector) => `{${vector.join(",")}}`),
        chunks.map((chunk) => fullText(chunk, assistantId)),
      ],
    )
  }
  for (let stranger = 0; stranger < sizes.strangers; stranger++) await copyTo(client, await owner(client), assistantId)
  await client.query("vacuum (analyze) knowledge_chunk")
  await client.query("vacuum (analyze) knowledge")
  return { token: await tokenOf(client, companyId), assistantId, queries: Array.from({ length: queries }, () => words.query(texts)) }
}

async function owner(client: pg.Client) {
  const [companyId, assistantId] = [randomUUID(), randomUUID()]
  await client.query(
    "insert into company (id, created_at, updated_at, name, embedding_credits) values ($1, now(), now(), 'Northwind', 1000000)",
    [companyId],
  )
  await client.query(
    `insert into assistant (id, created_at, updated_at, company_id, name, prompt, language, text_model_id, excluded_tags)
     values ($1, now(), now(), $2, 'Assistant', 'You answer customers.', 'en', gen_random_uuid(), '{}')`,
    [assistantId, companyId],
  )
  return { companyId, assistantId }
}

/** Copies the knowledge of an assistant to another company's. */
async function copyTo(client: pg.Client, { companyId, assistantId }: { companyId: string; assistantId: string }, from: string) {
  await client.query(
    `with item as (
       insert into knowledge (id, created_at, updated_at, company_id, assistant_id, name, kind, resource_content, is_vector, chunk_count,
         index_status, index_generation, embedding_model)
       select gen_random_uuid(), now(), now(), $1, $2, name, kind, '', true, chunk_count, 'indexed', gen_random_uuid(), embedding_model
       from knowledge where assistant_id = $3 returning *
     )
     insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, embedding,
       embedding_model, tsv)
     select gen_random_uuid(), $1, item.id, $2, item.index_generation, position, content, content_hash, embedding, c.embedding_model,
       ts_delete(tsv, '@' || $3) || array_to_tsvector(array['@' || $2])
     from item join knowledge k on k.assistant_id = $3::uuid and k.name = item.name join knowledge_chunk c on c.knowledge_id = k.id`,
    [companyId, assistantId, from],
  )
}

/** Invented words with the frequencies of a natural language: the hundredth is a hundredth as frequent as the first. */
class Words {
  private seed = 1
  private readonly words: string[]
  private readonly upTo: Float64Array

  constructor() {
    this.words = Array.from({ length: vocabulary }, () => this.made())
    this.upTo = new Float64Array(vocabulary)
    let sum = 0
    for (let rank = 0; rank < vocabulary; rank++) this.upTo[rank] = sum += 1 / (rank + 1)
  }

  sequence(length: number): string[] {
    return Array.from({ length }, () => this.words[this.rank()]!)
  }

  query(texts: string[][]): string {
    const common = new Set(this.words.slice(0, commonWords))
    const telling = texts[Math.floor(this.random() * texts.length)]!.filter((word) => !common.has(word))
    return Array.from({ length: wordsOfQuery }, () => telling[Math.floor(this.random() * telling.length)]).join(" ")
  }

  private rank(): number {
    const wanted = this.random() * this.upTo.at(-1)!
    let [low, high] = [0, vocabulary - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.upTo[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }

  private made(): string {
    const syllables = 2 + Math.floor(this.random() * 3)
    const one = (letters: string) => letters[Math.floor(this.random() * letters.length)]!
    return Array.from({ length: syllables }, () => one("bdfgklmnprstvz") + one("aeiou") + one("lmnrst")).join("")
  }

  /** From 0 to 1, by Park and Miller: the same in every run. */
  private random(): number {
    this.seed = (this.seed * 48_271) % 2_147_483_647
    return this.seed / 2_147_483_647
  }
}
