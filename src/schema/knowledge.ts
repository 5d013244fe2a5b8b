import { Field, InputType } from "type-graphql"
import { one, source } from "../database/source.js"
import { Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { Knowledge, type KnowledgeKind, KnowledgeKindEnum } from "../entities/knowledge.js"
import { limits } from "../limits.js"
import { pageOf } from "./kit/page.js"
import { mediaSource } from "./media.js"

export const knowledgeSource = source("Knowledge", { file: one("file", () => mediaSource, "fileId") })
export const KnowledgePage = pageOf(Knowledge, "knowledge items")

const KnowledgeText = Verbatim(limits.knowledgeText)

@InputType({ description: "A new knowledge item." })
export class CreateKnowledgeItemInput {
  @Field(() => UUID, { description: "The assistant that is to know it." })
  assistantId!: string

  @Field(() => Trimmed({ max: limits.knowledgeName }), { description: "Its name." })
  name!: string

  @Field(() => KnowledgeKindEnum, { description: "Where its content comes from." })
  kind!: KnowledgeKind

  @Field(() => KnowledgeText, { description: "Its text." })
  resourceContent!: string
}

@InputType({ description: "What changes about a knowledge item." })
export class UpdateKnowledgeItemInput {
  @Field(() => Trimmed({ max: limits.knowledgeName }), { nullable: true, description: "Its name." })
  name?: string | null

  @Field(() => KnowledgeText, { nullable: true, description: "Its text." })
  resourceContent?: string | null
}
