import { Field, Float, InputType, Int, ObjectType } from "type-graphql"
import { belongsTo, readModel } from "../database/read-model.js"
import { Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { WebAddress } from "../entities/kit/web-address.js"
import { Knowledge } from "../entities/knowledge.js"
import { type KnowledgeKind, KnowledgeKindEnum } from "../entities/knowledge-row.js"
import { entityLimits } from "../entities/limits.js"
import { pageOf } from "./kit/page.js"
import { schemaLimits } from "./limits.js"
import { mediaReadModel } from "./media.js"

export const knowledgeReadModel = readModel("Knowledge", { file: belongsTo(() => mediaReadModel, "fileId") })
export const KnowledgePage = pageOf(Knowledge, "knowledge items")

const KnowledgeText = Verbatim(schemaLimits.knowledgeSearchedText)
@InputType()
abstract class KnowledgeFields {
  @Field(() => KnowledgeText, {
    nullable: true,
    description: `Text of the item, when it is a text; at most ${entityLimits.knowledgeText} characters when isVector is false.`,
  })
  resourceContent?: string | null

  @Field(() => WebAddress, { nullable: true, description: "URL of the web page, for kind URL." })
  resourceUrl?: string | null

  @Field(() => UUID, {
    nullable: true,
    description: "ID of the uploaded file, when the item is a file: PDF, Word, Excel, PowerPoint, text or CSV.",
  })
  fileId?: string | null

  @Field(() => Boolean, {
    nullable: true,
    description:
      "Whether the item is split into chunks and searched (true), or given to the text model as a whole (false); always true for kind URL.",
  })
  isVector?: boolean | null

  @Field(() => Int, {
    nullable: true,
    description: `Maximum length of a chunk in characters, ${entityLimits.chunkSizeMin} to ${entityLimits.chunkSizeMax}.`,
  })
  chunkSize?: number | null

  @Field(() => Int, { nullable: true, description: "Maximum overlap of consecutive chunks in characters, 0 to half of chunkSize." })
  chunkOverlap?: number | null
}

@InputType({ description: "The knowledge item to create." })
export class CreateKnowledgeItemInput extends KnowledgeFields {
  @Field(() => UUID, { description: "ID of the assistant that gets the item." })
  assistantId!: string

  @Field(() => Trimmed({ max: schemaLimits.knowledgeName }), { description: "Name of the item." })
  name!: string

  @Field(() => KnowledgeKindEnum, {
    description:
      "Source of the content. The field for this kind (resourceContent, resourceUrl or fileId) is required, the other two must be absent.",
  })
  kind!: KnowledgeKind
}

@InputType({ description: "The fields of a knowledge item to change. A change of the content or of the chunks starts a new indexing." })
export class UpdateKnowledgeItemInput extends KnowledgeFields {
  @Field(() => Trimmed({ max: schemaLimits.knowledgeName }), { nullable: true, description: "Name of the item." })
  name?: string | null
}

@InputType({ description: "The search to run in the knowledge of an assistant." })
export class QueryKnowledgeInput {
  @Field(() => UUID, { description: "ID of the assistant." })
  assistantId!: string

  @Field(() => Trimmed({ max: entityLimits.knowledgeQuery }), { description: "Text to search for." })
  query!: string

  @Field(() => Int, {
    nullable: true,
    description: `Maximum number of chunks, 1 to ${schemaLimits.knowledgeQueryTakeMax}. Default: ${entityLimits.knowledgeQueryTakeDefault}.`,
  })
  take?: number | null
}

@ObjectType({ description: "A chunk of a knowledge item that matches a search." })
export class KnowledgeMatch {
  @Field(() => UUID, { description: "ID of the knowledge item." })
  knowledgeId!: string

  @Field(() => String, { description: "Name of the knowledge item." })
  knowledgeName!: string

  @Field(() => UUID, { description: "ID of the chunk." })
  chunkId!: string

  @Field(() => String, { description: "Text of the chunk." })
  content!: string

  @Field(() => Int, { description: "Position of the chunk in the item (0, 1, 2 …)." })
  position!: number

  @Field(() => Float, { description: "Relevance, 0 to 1." })
  score!: number
}

@ObjectType({ description: "The result of a knowledge search." })
export class KnowledgeMatches {
  @Field(() => [KnowledgeMatch], { description: "The matching chunks, best first." })
  data!: KnowledgeMatch[]
}
