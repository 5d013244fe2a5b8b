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
    description: `Its text, for a text item; at most ${entityLimits.knowledgeText} characters unless it is searchable.`,
  })
  resourceContent?: string | null

  @Field(() => WebAddress, { nullable: true, description: "The page it is read from, for a url item." })
  resourceUrl?: string | null

  @Field(() => UUID, {
    nullable: true,
    description: "The uploaded file it is read from, for a file item: PDF, Word, Excel, PowerPoint, text or CSV.",
  })
  fileId?: string | null

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether it is chunked and searched instead of given to the model as it is; a url item always is.",
  })
  isVector?: boolean | null

  @Field(() => Int, {
    nullable: true,
    description: `Most characters of a chunk, ${entityLimits.chunkSizeMin} to ${entityLimits.chunkSizeMax}.`,
  })
  chunkSize?: number | null

  @Field(() => Int, { nullable: true, description: "Characters that a chunk may repeat of the one before it, 0 to half of chunkSize." })
  chunkOverlap?: number | null
}

@InputType({ description: "A new knowledge item." })
export class CreateKnowledgeItemInput extends KnowledgeFields {
  @Field(() => UUID, { description: "The assistant that is to know it." })
  assistantId!: string

  @Field(() => Trimmed({ max: schemaLimits.knowledgeName }), { description: "Its name." })
  name!: string

  @Field(() => KnowledgeKindEnum, { description: "Where its content comes from; its field is required, the others must be absent." })
  kind!: KnowledgeKind
}

@InputType({ description: "What changes about a knowledge item; whatever concerns its content or its chunks has it indexed again." })
export class UpdateKnowledgeItemInput extends KnowledgeFields {
  @Field(() => Trimmed({ max: schemaLimits.knowledgeName }), { nullable: true, description: "Its name." })
  name?: string | null
}

@InputType({ description: "A question to what an assistant knows." })
export class QueryKnowledgeInput {
  @Field(() => UUID, { description: "The assistant." })
  assistantId!: string

  @Field(() => Trimmed({ max: entityLimits.knowledgeQuery }), { description: "What is looked for." })
  query!: string

  @Field(() => Int, {
    nullable: true,
    description: `How many chunks, 1 to ${schemaLimits.knowledgeQueryTakeMax}; ${entityLimits.knowledgeQueryTakeDefault} when absent.`,
  })
  take?: number | null
}

@ObjectType({ description: "A chunk that was found." })
export class KnowledgeMatch {
  @Field(() => UUID, { description: "The knowledge item." })
  knowledgeId!: string

  @Field(() => String, { description: "Its name." })
  knowledgeName!: string

  @Field(() => UUID, { description: "The chunk." })
  chunkId!: string

  @Field(() => String, { description: "What it says." })
  content!: string

  @Field(() => Int, { description: "Its place in the item: 0, 1, 2 …" })
  position!: number

  @Field(() => Float, { description: "How well it fits, 0 to 1." })
  score!: number
}

@ObjectType({ description: "What was found, best first." })
export class KnowledgeMatches {
  @Field(() => [KnowledgeMatch], { description: "The chunks, best first." })
  data!: KnowledgeMatch[]
}
