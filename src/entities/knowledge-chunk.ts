import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"

/**
 * A chunk of a knowledge item, the unit of search. SQL statements read and write many at a time. Chunks whose `generation` differs from
 * `indexGeneration` of their item belong to an index that is still being built, and are not searched.
 */
@Entity()
@Index({ properties: ["assistantId"] })
@Index({ properties: ["companyId", "contentHash"] })
@Index({ name: "knowledge_chunk_words", expression: "create index knowledge_chunk_words on knowledge_chunk using gin (tsv)" })
@Unique({ properties: ["knowledgeId", "generation", "position"] })
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export class KnowledgeChunk {
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  knowledgeId!: string

  /** Assistant of the item, copied so that a search reads one table. */
  @Property({ type: "uuid" })
  assistantId!: string

  /** ID of the indexing run that wrote the chunk. */
  @Property({ type: "uuid" })
  generation!: string

  /** Position in the item: 0, 1, 2 … */
  @Property({ type: "integer" })
  position!: number

  @Property({ type: "text" })
  content!: string

  /** SHA-256 of the content, in hex: unchanged content is not embedded again. */
  @Property({ type: "text" })
  contentHash!: string

  /** The embedding, a vector of length 1. */
  @Property({ type: "number[]", columnType: "real[]" })
  embedding!: number[]

  /** Model of the embedding; vectors of different models are not compared. */
  @Property({ type: "text" })
  embeddingModel!: string

  /** Input of the full-text search: text that is cast to tsvector, written by fullText() in src/knowledge/full-text.ts. */
  @Property({ type: "text", columnType: "tsvector" })
  tsv!: string
}
