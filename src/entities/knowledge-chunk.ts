import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"

/**
 * A piece of a knowledge item, as it is searched. Chunks are read and written by statements, many at a time; those whose `generation` is not
 * their item's `indexGeneration` are of an index that is still being made, and are not searched.
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

  /** The assistant of its item, so that a search reads one table. */
  @Property({ type: "uuid" })
  assistantId!: string

  /** The run that made the index it belongs to. */
  @Property({ type: "uuid" })
  generation!: string

  /** Its place in the item: 0, 1, 2 … */
  @Property({ type: "integer" })
  position!: number

  @Property({ type: "text" })
  content!: string

  /** SHA-256 of the content, in hex: what did not change is not embedded again. */
  @Property({ type: "text" })
  contentHash!: string

  /** The embedding, of length 1. */
  @Property({ type: "number[]", columnType: "real[]" })
  embedding!: number[]

  /** Which embedding made it: vectors of different ones are not compared. */
  @Property({ type: "text" })
  embeddingModel!: string

  /** What its full text is found by, as fullText() in src/knowledge/full-text.ts says it: a text that is cast to tsvector. */
  @Property({ type: "text", columnType: "tsvector" })
  tsv!: string
}
