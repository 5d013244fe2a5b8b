import { Entity, Filter, Index, PrimaryKey, Property } from "@mikro-orm/decorators/legacy"
import type { Messenger } from "./channel.js"
import { ofCompanies } from "./kit/of-companies.js"

/**
 * By what the chats of a company are counted, besides the three facts in each row, with the SQL of the value of a chat or of a `ChatCountChange`: the
 * messenger, or the ID of the folder, manager or tag; empty for none, and in `all`, which counts by nothing.
 */
export const chatDimensions = {
  all: (_row: string) => "''",
  messenger: (row: string) => `${row}.messenger`,
  folder: (row: string) => `coalesce(${row}.folder_id::text, '')`,
  manager: (row: string) => `coalesce(${row}.manager_id::text, '')`,
  tag: (row: string) => `${row}.tag_id::text`,
}
export type ChatDimension = keyof typeof chatDimensions

/**
 * Number of a company's chats with one value of a dimension, apart from changes that are not added up yet (`ChatCountChange`). A chat counts once
 * in each dimension, and once for each of its tags.
 */
@Entity()
@Filter(ofCompanies)
export class ChatCount {
  @PrimaryKey({ type: "uuid" })
  companyId!: string

  @PrimaryKey({ type: "text" })
  dimension!: ChatDimension

  /** Its value, as `chatDimensions` says it. */
  @PrimaryKey({ type: "text" })
  value!: string

  /** Whether the chats have unread messages. */
  @PrimaryKey({ type: "boolean" })
  isUnread!: boolean

  /** Whether a person has to answer in the chats. */
  @PrimaryKey({ type: "boolean" })
  needsAttention!: boolean

  @PrimaryKey({ type: "boolean" })
  isUnderAiControl!: boolean

  @Property({ type: "integer" })
  chats!: number
}

/**
 * A change of the numbers in `ChatCount` that is not added up yet. Database triggers write it in the transaction of the chat, so that a number and its changes
 * are exact together, and no transaction waits for a number that another one changes. It has a tag, or what else is counted by.
 */
@Entity()
@Filter(ofCompanies)
@Index({ properties: ["companyId"] })
export class ChatCountChange {
  @PrimaryKey({ type: "bigint", autoincrement: true })
  id!: string

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "text", nullable: true })
  messenger: Messenger | null = null

  @Property({ type: "uuid", nullable: true })
  folderId: string | null = null

  @Property({ type: "uuid", nullable: true })
  managerId: string | null = null

  @Property({ type: "uuid", nullable: true })
  tagId: string | null = null

  @Property({ type: "boolean" })
  isUnread!: boolean

  @Property({ type: "boolean" })
  needsAttention!: boolean

  @Property({ type: "boolean" })
  isUnderAiControl!: boolean

  /** 1 or -1. */
  @Property({ type: "smallint" })
  chats!: number
}
