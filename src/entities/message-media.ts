import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { UUID } from "./kit/scalars.js"

@ObjectType({ description: "A file attached to a message." })
@Entity()
@Index({ properties: ["mediaId"] })
@Unique({ properties: ["messageId", "position"] })
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export class MessageMedia {
  // Its GraphQL field `media` is declared in media.ts.

  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  messageId!: string

  @Field(() => UUID, { description: "ID of the uploaded file." })
  @Property({ type: "uuid" })
  mediaId!: string

  /** Position among the files of the message: 1, 2, 3 … */
  @Property({ type: "integer" })
  position!: number
}
