import { Entity, Index, Property } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { words } from "./kit/words.js"

/** Where the content of a knowledge item comes from. */
export const knowledgeKinds = ["text"] as const
export type KnowledgeKind = (typeof knowledgeKinds)[number]
export const KnowledgeKindEnum = words("KnowledgeKind", "Where the content of a knowledge item comes from.", knowledgeKinds)

@ObjectType({ description: "Something an assistant knows; its text is given to the model as it is." })
@Entity({ tableName: "knowledge" })
@Index({ properties: ["companyId", "assistantId"] })
export class Knowledge extends CompanyOwned {
  @Field(() => UUID, { description: "The assistant that knows it." })
  @Property({ type: "uuid" })
  assistantId!: string

  @Field(() => String, { description: "Its name, 1 to 200 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => KnowledgeKindEnum, { description: "Where its content comes from; never changes." })
  @Property({ type: "text" })
  kind!: KnowledgeKind

  @Field(() => String, { nullable: true, description: "Its text; null on lists." })
  @Property({ type: "text" })
  resourceContent!: string

  @Field(() => Boolean, { description: "Whether it is chunked and searched instead of given to the model as it is." })
  @Property({ type: "boolean", default: false })
  isVector: boolean = false

  @Field(() => Int, { description: "How many chunks it is searched by; 0 while it is not searched." })
  @Property({ type: "integer", default: 0 })
  chunkCount: number = 0
}
