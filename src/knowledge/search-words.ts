import { sql } from "kysely"
import type { Reader } from "../database/reader.js"
import { limits } from "../limits.js"
import { assistantWord } from "./full-text.js"
import { chunkSource, indexed } from "./indexed-items.js"

/** How fast a word that comes again in a chunk stops to count more (BM25's k1). */
const SATURATION = 1.2

/**
 * The half of a search that goes by words: chunks of an assistant that hold any of them, best first. A rare word counts more than a common one
 * (BM25, over PostgreSQL's full text); how often a word comes in a chunk is looked at for those that are good enough without.
 */
export async function byWords(reader: Reader, assistantId: string, words: string[]): Promise<string[]> {
  if (words.length === 0) return []
  const items = indexed(reader, assistantId).select(["t.index_generation as generation", "t.chunk_count"])
  const holding = reader.scoped(chunkSource).where(sql<boolean>`t.tsv @@ asked.query`).select(["t.id", "t.generation"])
  const chunks = reader.scoped(chunkSource).select(["t.id", "t.tsv"])
  const { rows } = await sql<{ id: string }>`
    with item as ${items},
    asked as (
      select word, (quote_literal(word) || ' & ' || quote_literal(${assistantWord(assistantId)}::text))::tsquery as query
      from unnest(${words}::text[]) word
    ),
    hit as (select asked.word, chunk.id from asked cross join lateral ${holding} chunk join item using (generation)),
    weight as (
      select word, ln(1 + (select sum(chunk_count) from item)::float8 / count(*)) as weight from hit group by word
    ),
    best as (
      select id, sum(weight) as weight from hit join weight using (word) group by id
      order by weight desc, id limit ${limits.knowledgeCandidates}
    )
    select best.id from best join ${chunks} chunk using (id), unnest(chunk.tsv) as found (word, places), weight
    where weight.word = found.word
    group by best.id
    order by sum(weight.weight * cardinality(places) / (cardinality(places) + ${SATURATION}::float8)) desc, best.id`.execute(reader.sql)
  return rows.map(({ id }) => id)
}
