import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"
import { Media } from "./media.js"

/** Source of the content of a knowledge item. */
export const KnowledgeKindEnum = words("KnowledgeKind", "Source of the content of a knowledge item.", {
  text: "Text in resourceContent.",
  url: "The web page at resourceUrl, which the server crawls.",
  file: "The uploaded file with the ID fileId.",
})
export type KnowledgeKind = (typeof KnowledgeKindEnum)[string]

/** State of the search index of a searchable item. */
export const IndexStatusEnum = words("IndexStatus", "State of the search index of a knowledge item.", {
  pending: "Waiting to be indexed.",
  indexed: "Indexed; the item is searched.",
  failed: "Indexing failed; see indexError.",
})
export type IndexStatus = (typeof IndexStatusEnum)[string]

const IndexingState = workState("index-knowledge", {
  dueAt: "index_due_at",
  runId: "index_run",
  leaseUntil: "index_lease_until",
  failures: "index_attempts",
})

/** Columns of a knowledge item; its domain rules are in knowledge.ts. */
@ObjectType()
export abstract class KnowledgeRow extends CompanyOwned {
  @Field(() => UUID, { description: "ID of the assistant that owns the item." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => String, { description: "Name of the item, 1 to 200 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => KnowledgeKindEnum, { description: "Source of the content; it cannot be changed." })
  @Property({ type: "text" })
  kind!: KnowledgeKind

  @Field(() => String, {
    nullable: true,
    description: "Text of the item: as entered, or as extracted from the web page or the file; null in lists.",
  })
  @Property({ type: "text", nullable: true })
  resourceContent: string | null = null

  @Field(() => String, { nullable: true, description: "URL of the web page, for an item of kind URL." })
  @Property({ type: "text", nullable: true })
  resourceUrl: string | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the uploaded file, for an item of kind FILE." })
  @Property({ type: "uuid", nullable: true })
  fileId: string | null = null

  @Field(() => Media, { nullable: true, description: "The uploaded file, for an item of kind FILE." })
  file?: Media | null

  @Field(() => Boolean, {
    description:
      "Whether the item is split into chunks and searched (true), or given to the text model as a whole (false); always true for kind URL.",
  })
  @Property({ type: "boolean", default: false })
  isVector: boolean = false

  @Field(() => Int, { description: "Maximum length of a chunk in characters, 200 to 4000." })
  @Property({ type: "integer", default: entityLimits.chunkSizeDefault })
  chunkSize: number = entityLimits.chunkSizeDefault

  @Field(() => Int, { description: "Maximum overlap of consecutive chunks in characters, 0 to half of chunkSize." })
  @Property({ type: "integer", default: entityLimits.chunkOverlapDefault })
  chunkOverlap: number = entityLimits.chunkOverlapDefault

  @Field(() => IndexStatusEnum, {
    nullable: true,
    description: "State of the search index; only an indexed item is searched. Null for an item that is not searchable.",
  })
  @Property({ type: "text", nullable: true })
  indexStatus: IndexStatus | null = null

  @Field(() => String, { nullable: true, description: "Why indexing failed; for an indexed item, why its last crawl failed." })
  @Property({ type: "text", nullable: true })
  indexError: string | null = null

  @Field(() => Int, { description: "Number of chunks in the search index." })
  @Property({ type: "integer", default: 0 })
  chunkCount: number = 0

  /** ID of the run that built the current index; chunks of other generations are not searched, and a generation never changes. */
  @Property({ type: "uuid", nullable: true })
  indexGeneration: string | null = null

  /** Embedding model of the current index. */
  @Property({ type: "text", nullable: true })
  embeddingModel: string | null = null

  /** Work state of the indexing; `failures` counts lost workers too. */
  @Embedded(() => IndexingState, { prefix: false })
  indexing: WorkState = new IndexingState()

  /** `ETag` of the web page at the last crawl, for conditional requests. */
  @Property({ type: "text", nullable: true })
  resourceEtag: string | null = null

  /** `Last-Modified` of the web page at the last crawl, for conditional requests. */
  @Property({ type: "text", nullable: true })
  resourceLastModified: string | null = null
}
