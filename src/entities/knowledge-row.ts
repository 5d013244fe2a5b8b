import { Embedded, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"
import { Media } from "./media.js"

/** Where the content of a knowledge item comes from. */
export const knowledgeKinds = ["text", "url", "file"] as const
export type KnowledgeKind = (typeof knowledgeKinds)[number]
export const KnowledgeKindEnum = words("KnowledgeKind", "Where the content of a knowledge item comes from.", knowledgeKinds)

/** How far the index of a searchable item is. */
export const indexStatuses = ["pending", "indexed", "failed"] as const
export type IndexStatus = (typeof indexStatuses)[number]
export const IndexStatusEnum = words("IndexStatus", "How far the index of a searchable knowledge item is.", indexStatuses)

const IndexingState = workState("index-knowledge", {
  dueAt: "index_due_at",
  runId: "index_run",
  leaseUntil: "index_lease_until",
  failures: "index_attempts",
})

/** What is kept of a knowledge item; its rules are in knowledge.ts. */
@ObjectType()
export abstract class KnowledgeRow extends CompanyOwned {
  @Field(() => UUID, { description: "The assistant that knows it." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => String, { description: "Its name, 1 to 200 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => KnowledgeKindEnum, { description: "Where its content comes from; never changes." })
  @Property({ type: "text" })
  kind!: KnowledgeKind

  @Field(() => String, { nullable: true, description: "Its text: as given, or as read from its page or file; null on lists." })
  @Property({ type: "text", nullable: true })
  resourceContent: string | null = null

  @Field(() => String, { nullable: true, description: "The page it is read from; for url items." })
  @Property({ type: "text", nullable: true })
  resourceUrl: string | null = null

  @Field(() => UUID, { nullable: true, description: "The uploaded file it is read from; for file items." })
  @Property({ type: "uuid", nullable: true })
  fileId: string | null = null

  @Field(() => Media, { nullable: true, description: "The uploaded file it is read from; for file items." })
  file?: Media | null

  @Field(() => Boolean, {
    description: "Whether it is chunked and searched instead of given to the model as it is; always true for url items.",
  })
  @Property({ type: "boolean", default: false })
  isVector: boolean = false

  @Field(() => Int, { description: "Most characters of a chunk, 200 to 4000." })
  @Property({ type: "integer", default: entityLimits.chunkSizeDefault })
  chunkSize: number = entityLimits.chunkSizeDefault

  @Field(() => Int, { description: "Characters that a chunk may repeat of the one before it, 0 to half of chunkSize." })
  @Property({ type: "integer", default: entityLimits.chunkOverlapDefault })
  chunkOverlap: number = entityLimits.chunkOverlapDefault

  @Field(() => IndexStatusEnum, {
    nullable: true,
    description: "How far its index is; only an indexed item is searched. Null while it is not searchable.",
  })
  @Property({ type: "text", nullable: true })
  indexStatus: IndexStatus | null = null

  @Field(() => String, { nullable: true, description: "Why it could not be indexed; of an indexed item, why its last re-crawl failed." })
  @Property({ type: "text", nullable: true })
  indexError: string | null = null

  @Field(() => Int, { description: "How many chunks it is searched by; 0 while it is not searched." })
  @Property({ type: "integer", default: 0 })
  chunkCount: number = 0

  /** The run that made its index: a chunk of another generation is not searched. What a generation holds never changes. */
  @Property({ type: "uuid", nullable: true })
  indexGeneration: string | null = null

  /** Which embedding its index was made by. */
  @Property({ type: "text", nullable: true })
  embeddingModel: string | null = null

  /** Its indexing: when its index is to be made, and who makes it; an indexing that was lost with its worker is a failure too. */
  @Embedded(() => IndexingState, { prefix: false })
  indexing: WorkState = new IndexingState()

  /** The version that its page reported, to ask whether it changed. */
  @Property({ type: "text", nullable: true })
  resourceEtag: string | null = null

  /** The time of the last change that its page reported. */
  @Property({ type: "text", nullable: true })
  resourceLastModified: string | null = null
}
