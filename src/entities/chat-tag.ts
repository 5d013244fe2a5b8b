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

/**
 * Assignment of a tag to a chat. Database triggers keep in it what chats are filtered by besides tags, so that an index alone gives the chats, and
 * their number.
 */
@Entity()
@Index({
  name: "chat_tagging_filter",
  // It does not begin with the company: PostgreSQL may read all taggings of the company by such an index, instead of those of a page of chats by the primary key.
  expression:
    "create index chat_tagging_filter on chat_tagging (tag_id, is_unread, messenger, needs_attention, is_under_ai_control) include (chat_id, company_id)",
})
export class ChatTagging {
  @PrimaryKey({ type: "uuid" })
  chatId!: string

  @PrimaryKey({ type: "uuid" })
  tagId!: string

  @Property({ type: "uuid" })
  companyId!: string

  /** The messenger of the chat, as are the next ones facts of the chat. */
  @Property({ type: "text", default: "" })
  messenger: string = ""

  @Property({ type: "boolean", default: false })
  isUnread: boolean = false

  @Property({ type: "boolean", default: false })
  needsAttention: boolean = false

  @Property({ type: "boolean", default: false })
  isUnderAiControl: boolean = false
}
