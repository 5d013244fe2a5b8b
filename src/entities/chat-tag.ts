import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { HexColor } from "./kit/scalars.js"

/** Folds the case of a tag name for comparison, as the SQL function folded() does. */
export const folded = (name: string) => name.toLowerCase().toUpperCase().toLowerCase()

@ObjectType({ description: "A tag for chats. The tags of a company form a dictionary." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "chat_tag_name_unique", expression: "create unique index chat_tag_name_unique on chat_tag (company_id, folded(name))" })
export class ChatTag extends CompanyOwned {
  @Field(() => String, { description: "Name of the tag, 1 to 64 characters, unique in the company regardless of case." })
  @Property({ type: "text" })
  name!: string

  @Field(() => HexColor, { description: "Color of the tag." })
  @Property({ type: "text", default: "#808080" })
  color: string = "#808080"
}

/** Assignment of a tag to a chat. */
@Entity()
@Index({ properties: ["tagId"] })
export class ChatTagging {
  @PrimaryKey({ type: "uuid" })
  chatId!: string

  @PrimaryKey({ type: "uuid" })
  tagId!: string

  @Property({ type: "uuid" })
  companyId!: string
}
