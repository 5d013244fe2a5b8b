import { sql } from "kysely"
import type { Reader } from "../database/reader.js"
import { runQuery } from "../database/run-query.js"
import { assistantWord, type Term } from "./full-text.js"
import { chunkReadModel, indexed } from "./indexed-items.js"
import { knowledgeLimits } from "./limits.js"

/**
 * Search by words: chunks of an assistant that contain any of them, best first. A word that no chunk contains is replaced by its thesaurus
 * concepts.
 */
export async function byWords(reader: Reader, assistantId: string, asked: Term[]): Promise<string[]> {
  if (asked.length === 0) return []
  const matches = await holding(
    reader,
    assistantId,
    asked.map(({ word }) => word),
  )
  const unsaid = new Set(matches.unsaid)
  const meant = asked.flatMap(({ word, concepts }) => (unsaid.has(word) ? concepts : []))
  if (meant.length === 0) return matches.ids
  const words = asked.flatMap(({ word }) => (unsaid.has(word) ? [] : word))
  return (await holding(reader, assistantId, [...words, ...new Set(meant)])).ids
}

/**
 * Chunks that contain any of these lexemes, and the lexemes that none contains, ranked like BM25 over PostgreSQL's full text: by the rarity of
 * a lexeme and its frequency in the chunk; the frequency is computed only for chunks that already rank high.
 */
async function holding(reader: Reader, assistantId: string, lexemes: string[]): Promise<{ ids: string[]; unsaid: string[] }> {
  const items = indexed(reader, assistantId).select(["t.index_generation as generation", "t.chunk_count"])
  const found = reader
    .scoped(chunkReadModel)
    .where(sql<boolean>`t.tsv @@ (quote_literal(asked.lexeme) || ' & ' || quote_literal(${assistantWord(assistantId)}::text))::tsquery`)
    .select(["t.id", "t.generation"])
  const chunks = reader.scoped(chunkReadModel).select(["t.id", "t.tsv"])
  const query = sql<{ ids: string[]; unsaid: string[] }>`
    with item as materialized ${items},
    asked as (select lexeme, number from unnest(${lexemes}::text[]) with ordinality asked (lexeme, number)),
    hit as materialized (select number, found.id, found.generation from asked cross join lateral ${found} found),
    weight as (select number, ln(1 + (select sum(chunk_count) from item)::float8 / count(*)) as weight from hit group by number),
    best as (
      select id, sum(weight) as weight from hit join weight using (number) join item using (generation)
      group by id order by weight desc, id limit ${knowledgeLimits.knowledgeCandidates}
    )
    select array(
      select best.id from best join hit using (id) join weight using (number) join asked using (number) join ${chunks} chunk using (id)
      group by best.id order by sum(weight.weight * ts_rank(chunk.tsv, quote_literal(asked.lexeme)::tsquery)) desc, best.id
    ) as ids, array(select lexeme from asked where number not in (select number from weight)) as unsaid`
  const [row] = await runQuery<{ ids: string[]; unsaid: string[] }>(reader, query.compile(reader.sql))
  return row!
}
